// Asks an OpenAI-compatible endpoint through the official SDK.
// usage: node openai.mjs FOLDER-WITH-NODE_MODULES < job
// job: {baseURL, apiKey, body, stream, headers, abortAfter}; the reply is one
// JSON object: {message, finish, usage, gateway, chunks, error}.
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';

const { OpenAI } = createRequire(process.argv[2] + '/')('openai');
const job = JSON.parse(readFileSync(0, 'utf8'));
const client = new OpenAI({ baseURL: job.baseURL, apiKey: job.apiKey, maxRetries: 0, defaultHeaders: job.headers });

async function plain() {
  const reply = await client.chat.completions.create(job.body);
  const choice = reply.choices[0];
  return { message: choice.message, finish: choice.finish_reason, usage: reply.usage ?? null, gateway: reply.x_gateway, chunks: [reply] };
}

async function streamed() {
  const chunks = [];
  const stream = client.chat.completions.stream(job.body);
  stream.on('chunk', (chunk) => {
    chunks.push(chunk);
    if (chunks.length === job.abortAfter) stream.abort();
  });
  const whole = await stream.finalChatCompletion();
  const choice = whole.choices[0];
  const gateway = chunks.findLast((chunk) => chunk.x_gateway)?.x_gateway;
  return { message: choice.message, finish: choice.finish_reason, usage: chunks.findLast((chunk) => chunk.usage)?.usage ?? null, gateway, chunks };
}

let out;
try {
  out = await (job.stream ? streamed() : plain());
} catch (e) {
  out = { error: { name: e.constructor.name, status: e.status ?? 0, code: e.code ?? '', message: e.message, retryAfter: e.headers?.get?.('retry-after') ?? '' } };
}
console.log(JSON.stringify(out));
