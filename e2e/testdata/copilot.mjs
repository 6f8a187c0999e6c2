// Sends prompts to an OpenAI-compatible endpoint through the Copilot SDK, offline.
// usage: node copilot.mjs FOLDER-WITH-NODE_MODULES < job
// job: {baseURL, apiKey, model, home, work, streaming, wire, mcpServers, prompts}; the
// answers are printed as a JSON list.
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const { CopilotClient, RuntimeConnection, approveAll } = await import(pathToFileURL(process.argv[2] + '/node_modules/@github/copilot-sdk/dist/index.js').href);
const job = JSON.parse(readFileSync(0, 'utf8'));
const client = new CopilotClient({
  connection: RuntimeConnection.forStdio({}),
  workingDirectory: job.work,
  baseDirectory: job.home + '/.copilot',
  useLoggedInUser: false,
  env: { ...process.env },
});
const answers = [];
try {
  await client.start();
  const session = await client.createSession({
    model: job.model,
    streaming: job.streaming,
    mcpServers: job.mcpServers ?? undefined,
    provider: { type: 'openai', baseUrl: job.baseURL, apiKey: job.apiKey, wireApi: job.wire },
    onPermissionRequest: approveAll,
  });
  for (const prompt of job.prompts) {
    const answer = await session.sendAndWait({ prompt }, 60000);
    answers.push(answer?.data?.content ?? '');
  }
  await session.disconnect();
} finally {
  await client.stop();
}
console.log(JSON.stringify(answers));
