// Asks for a response through the official SDK.
// usage: node responses.mjs FOLDER-WITH-NODE_MODULES < job
// job: {baseURL, apiKey, body, stream}; the reply is one JSON object:
// {response, text, kinds, error}.
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';

const { OpenAI } = createRequire(process.argv[2] + '/')('openai');
const job = JSON.parse(readFileSync(0, 'utf8'));
const client = new OpenAI({ baseURL: job.baseURL, apiKey: job.apiKey, maxRetries: 0 });

async function plain() {
  const response = await client.responses.create(job.body);
  return { response, text: response.output_text, kinds: [] };
}

// streamed has the SDK put the response together from the events, which it checks.
async function streamed() {
  const kinds = [];
  let text = '';
  const stream = client.responses.stream(job.body);
  stream.on('event', (event) => kinds.push(event.type));
  stream.on('response.output_text.delta', (event) => (text += event.delta));
  return { response: await stream.finalResponse(), text, kinds };
}

let out;
try {
  out = await (job.stream ? streamed() : plain());
} catch (e) {
  out = { error: { name: e.constructor.name, status: e.status ?? 0, code: e.code ?? '', message: e.message } };
}
console.log(JSON.stringify(out));
