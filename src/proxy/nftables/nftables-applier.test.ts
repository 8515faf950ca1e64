import { expect, it } from 'vitest';
import { KernelNetwork, ProgramError, silentLogger } from '#base';
import { NftablesApplier } from './nftables-applier.ts';

/** Records the commands; its nft does not support the syntax. */
class OldKernel extends KernelNetwork {
  readonly commands: string[] = [];
  override async run(program: string, args: readonly string[]): Promise<string> {
    this.commands.push([program, ...args].join(' '));
    throw new ProgramError('nft: syntax error, unexpected typeof', 'nft', 1);
  }
}

it('mode nftables says at the start that the installed nft is too old, before anything is changed', async () => {
  const kernel = new OldKernel();
  const settings = { podCidrs: [], nodePortAddresses: [], masqueradeAll: false, masqueradeBit: 14 };
  const applier = new NftablesApplier(settings, { kernel, logger: silentLogger });
  await expect(applier.check()).rejects.toThrow(
    'proxy mode nftables needs nft 1.0.1 or newer and a kernel with nftables; choose another --proxy-mode: nft: syntax error',
  );
  expect(kernel.commands).toEqual(['nft --check -f -']);
});
