// Asks an Ollama-compatible endpoint through the official client.
// usage: node ollama.mjs FOLDER-WITH-NODE_MODULES < job
// job: {host, chat}; the reply is one JSON object: {version, names, shown, running,
// plain, parts, error}.
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';

const { Ollama } = createRequire(process.argv[2] + '/')('ollama');
const job = JSON.parse(readFileSync(0, 'utf8'));
const client = new Ollama({ host: job.host });

let out = {};
try {
  out.version = (await client.version()).version;
  out.names = (await client.list()).models.map((m) => m.model);
  out.shown = await client.show({ model: job.chat.model });
  out.running = (await client.ps()).models;
  out.plain = await client.chat({ ...job.chat, stream: false });
  out.parts = [];
  for await (const part of await client.chat({ ...job.chat, stream: true })) out.parts.push(part);
  out.error = await client.chat({ ...job.chat, model: 'nobody' }).catch((e) => ({ status: e.status_code, message: e.message }));
} catch (e) {
  out.error = { status: e.status_code ?? 0, message: e.message };
}
console.log(JSON.stringify(out));
