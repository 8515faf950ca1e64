import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { KernelNetwork, realClock, seededRandom, silentLogger } from '#base';
import { Client, type Transport } from '#client';
import { CONFIG_FILE } from './cni/install-plugin.ts';
import { startNetworkAgent } from './start-network-agent.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(path.join(os.tmpdir(), 'sampan-agent-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const at = (name: string) => path.join(root, name);

const fail = () => {
  throw new Error('the agent is not expected to use the API server');
};
const unused: Transport = { isLocal: true, request: fail, text: fail, stream: fail, watch: fail, async [Symbol.asyncDispose]() {} };

/** A machine where no command can run: its network namespace does not exist. */
function startAgent() {
  const client = new Client(unused);
  const config = { nodeName: 'n1', stateDirectory: at('state'), binDirectory: at('bin'), configDirectory: at('net.d') };
  const kernel = new KernelNetwork(at('no-namespace'));
  return startNetworkAgent(config, { client, kernel, clock: realClock, random: seededRandom(1), logger: silentLogger });
}

it('an agent that cannot use nft installs neither the plugin nor its configuration', async () => {
  await expect(startAgent().ready).rejects.toThrow('the pod network needs nft 1.0 or newer');
  expect(existsSync(at('bin'))).toBe(false);
  expect(readdirSync(at('net.d'))).toEqual([]);
});

it('another network configuration replaces ours, without a check of nft', async () => {
  await expect(startAgent().ready).rejects.toThrow();
  for (const name of ['99-other.conf', CONFIG_FILE]) writeFileSync(path.join(at('net.d'), name), '{}');
  await using agent = startAgent();
  await agent.ready;
  expect(readdirSync(at('net.d'))).toEqual(['99-other.conf']);
});
