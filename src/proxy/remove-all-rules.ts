import { type Clock, KernelNetwork, type Logger, type Random } from '#base';
import { createApplier } from './choose-applier.ts';

export interface RemoveRulesDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Default: the network of this process. */
  readonly kernel?: KernelNetwork;
}

/** Removes the rules of proxies of any mode from this machine. Unsupported modes have left none. */
export async function removeAllRules(deps: RemoveRulesDeps): Promise<void> {
  const settings = { podCidrs: [], nodePortAddresses: [], masqueradeAll: false, masqueradeBit: 14 };
  for (const mode of ['nftables', 'iptables'] as const) {
    const applier = createApplier(mode, settings, { ...deps, kernel: deps.kernel ?? new KernelNetwork() });
    try {
      await applier.check();
    } catch (error) {
      deps.logger.info('nothing to remove', { mode, error });
      continue;
    }
    await applier.remove();
  }
}
