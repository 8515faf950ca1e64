import { type KernelNetwork, type Logger, ProgramError } from '#base';

/** A UDP flow whose conntrack entry must be deleted. */
export interface StaleFlow {
  readonly family: 4 | 6;
  /** Absent: a node port. */
  readonly address?: string;
  readonly port: number;
  /** Absent: all flows of the frontend, which had no endpoints so far. */
  readonly endpoint?: string;
}

/** The limit of conntrack processes; if a service loses more endpoints at once, all its flows are deleted. */
const MAX_COMMANDS = 256;

/** Deletes conntrack entries of removed UDP endpoints, so that the next datagram reaches a live one. */
export async function removeStaleFlows(kernel: KernelNetwork, flows: readonly StaleFlow[], logger: Logger): Promise<void> {
  const commands = new Map<string, readonly string[]>();
  const isMany = flows.length > MAX_COMMANDS;
  for (const { family, address, port, endpoint } of flows) {
    const args = ['-D', '-p', 'udp', '-f', family === 4 ? 'ipv4' : 'ipv6', '--orig-port-dst', `${port}`];
    if (address !== undefined) args.push('--orig-dst', address);
    if (endpoint !== undefined && !isMany) args.push('--dst-nat', endpoint);
    commands.set(args.join(' '), args);
  }
  for (const args of [...commands.values()].slice(0, MAX_COMMANDS)) await runConntrack(kernel, args, logger);
}

async function runConntrack(kernel: KernelNetwork, args: readonly string[], logger: Logger): Promise<void> {
  try {
    await kernel.run('conntrack', args);
  } catch (error) {
    // Exit code 1: no entries were found.
    if (error instanceof ProgramError && error.exitCode === 1) return;
    logger.warn('conntrack entries of removed endpoints could not be deleted', { error });
  }
}
