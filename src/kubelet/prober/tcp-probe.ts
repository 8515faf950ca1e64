import { connect, isIP } from 'node:net';
import type { core } from '#api';
import { containerPort } from './container-port.ts';
import { dialErrorText, joinHostPort } from './go-errors.ts';
import type { ProbeResult, ProbeTarget } from './prober.ts';

/** Succeeds when a connection is established. */
export async function tcpProbe(action: core.TCPSocketAction, target: ProbeTarget, signal: AbortSignal): Promise<ProbeResult> {
  const port = containerPort(action.port, target.container);
  const host = action.host || target.podIp;
  const address = joinHostPort(host, port);
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const finish = (answer: ProbeResult) => {
      signal.removeEventListener('abort', onTimeout);
      socket.destroy();
      resolve(answer);
    };
    let isResolved = isIP(host) !== 0;
    const onTimeout = () => finish({ passed: false, output: `dial tcp${isResolved ? ` ${address}` : `: lookup ${host}`}: i/o timeout` });
    socket.on('lookup', () => {
      isResolved = true;
    });
    socket.on('connect', () => finish({ passed: true, output: '' }));
    socket.on('error', (error) => finish({ passed: false, output: dialErrorText(address, error) }));
    signal.addEventListener('abort', onTimeout, { once: true });
  });
}
