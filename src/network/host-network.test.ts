import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { KernelNetwork, ProgramError, silentLogger } from '#base';
import { HostNetwork } from './host-network.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(path.join(os.tmpdir(), 'sampan-host-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** Records the commands; its nft does not support the syntax. */
class OldKernel extends KernelNetwork {
  readonly commands: string[] = [];
  override async run(program: string, args: readonly string[]): Promise<string> {
    this.commands.push([program, ...args].join(' '));
    if (program === 'nft') throw new ProgramError('nft: syntax error, unexpected map', 'nft', 1);
    return '';
  }
}

it('says at the start that the installed nft is too old, before anything is changed', async () => {
  const kernel = new OldKernel();
  const config = { nodeName: 'n', stateDirectory: directory, backend: 'auto', masquerade: true } as const;
  const host = new HostNetwork(config, { kernel, logger: silentLogger });
  await expect(host.checkRules()).rejects.toThrow('the pod network needs nft 1.0 or newer and a kernel with nftables: nft: syntax error');
  expect(kernel.commands).toEqual(['nft --check -f -']);
  expect(readdirSync(directory)).toEqual([]);
});
