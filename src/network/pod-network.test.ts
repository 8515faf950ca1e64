import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { KernelNetwork, seededRandom, silentLogger } from '#base';
import { AddressPool } from './address-pool.ts';
import { type Attachment, AttachmentStore } from './attachment-store.ts';
import { CniError } from './cni/cni-error.ts';
import type { CniCommand, CniRequest } from './cni/cni-request.ts';
import { PodNetwork } from './pod-network.ts';

const STEPS = 10_000;
const CONTAINERS = 140;
const RANGES = ['10.9.0.0/26', 'fd09::/122'];

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(path.join(os.tmpdir(), 'sampan-addresses-'));
  mkdirSync(path.join(directory, 'netns'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

class KilledError extends Error {}

/** An agent that is killed at random moments: before, between and after its commands and writes. */
function agentOf(mayDie: () => void): PodNetwork {
  class DyingKernel extends KernelNetwork {
    override async run(): Promise<string> {
      mayDie();
      return '';
    }
  }
  class DyingStore extends AttachmentStore {
    override async write(attachment: Attachment): Promise<void> {
      mayDie();
      await super.write(attachment);
      mayDie();
    }
    override async remove(key: Attachment): Promise<void> {
      mayDie();
      await super.remove(key);
      mayDie();
    }
  }
  const store = new DyingStore(path.join(directory, 'attachments'), silentLogger);
  return new PodNetwork({ kernel: new DyingKernel(), store, observers: [], mtu: () => 1500, logger: silentLogger });
}

const netnsOf = (container: string) => path.join(directory, 'netns', container);

function request(command: CniCommand, containerId: string): CniRequest {
  return {
    ...{ command, containerId, ifName: 'eth0', cniVersion: '1.0.0', pluginType: 'sampan-cni', netns: netnsOf(containerId) },
    ...{ args: new Map(), portMappings: [], bandwidth: {}, validAttachments: [] },
  };
}

it('no address is given twice, and none is lost, in 10,000 steps of ADD, DEL, GC and crashes', async () => {
  const random = seededRandom(7);
  let isKilled = false;
  const mayDie = () => {
    // The next actions of the killed agent do not happen.
    if (isKilled || random.float() < 0.01) {
      isKilled = true;
      throw new KilledError();
    }
  };
  /** What the runtime was told about each pod, until its DEL began. */
  const inUse = new Map<string, readonly string[]>();
  let agent: PodNetwork;
  const restart = async () => {
    isKilled = false;
    const pool = new AddressPool(RANGES);
    agent = agentOf(mayDie);
    await agent.load(pool);
    agent.use(pool);
  };
  const steps = {
    async add(container: string) {
      writeFileSync(netnsOf(container), '');
      const result = (await agent.handle(request('ADD', container))) as { ips: { address: string }[] };
      inUse.set(
        container,
        result.ips.map(({ address }) => address),
      );
    },
    async delete(container: string) {
      // In any case the pod is gone now.
      inUse.delete(container);
      rmSync(netnsOf(container), { force: true });
      await agent.handle(request('DEL', container));
    },
    collect: () => agent.collectGarbage(),
  };
  await restart();
  let crashes = 0;
  let full = 0;
  for (let step = 0; step < STEPS; step++) {
    const container = `c${random.int(CONTAINERS)}`;
    const draw = random.float();
    try {
      await (draw < 0.54 ? steps.add(container) : draw < 0.99 ? steps.delete(container) : steps.collect());
    } catch (error) {
      if (isKilled) {
        crashes++;
        await restart();
      } else if (error instanceof CniError && error.message.startsWith('no address is free')) full++;
      else throw error;
    }
    const addresses = [...inUse.values()].flat();
    if (new Set(addresses).size !== addresses.length) throw new Error(`an address was given twice at step ${step}`);
  }
  expect(crashes).toBeGreaterThan(100);
  expect(full).toBeGreaterThan(0);
  // Nothing leaks: without pods there are no files, and every address can be allocated again.
  for (const name of readdirSync(path.join(directory, 'netns'))) rmSync(netnsOf(name));
  isKilled = false;
  const pool = new AddressPool(RANGES);
  const last = agentOf(() => {});
  await last.load(pool);
  last.use(pool);
  await last.collectGarbage();
  expect(readdirSync(path.join(directory, 'attachments'))).toEqual([]);
  expect(existsSync(netnsOf('c0'))).toBe(false);
  expect(Array.from({ length: 61 }, () => pool.allocate()).every(Boolean)).toBe(true);
}, 120_000);
