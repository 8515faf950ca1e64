import { constants } from 'node:os';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** The user's request to stop the program. */
export interface Interruption {
  /** Aborts at the first SIGINT, SIGTERM or SIGHUP. Until it is first used, signals end the process as usual. */
  signal(): AbortSignal;
  /** 128 plus the number of the received signal, as shells use it; undefined if there was none. */
  exitCode(): number | undefined;
}

/** The second signal ends the process immediately, so that a hanging shutdown can be aborted. */
export function interruptionOf(source: Pick<NodeJS.Process, 'on'>, exit: (code: number) => void): Interruption {
  let controller: AbortController | undefined;
  let code: number | undefined;
  const onSignal = (name: NodeJS.Signals) => {
    if (code !== undefined) exit(code);
    code = 128 + constants.signals[name];
    controller?.abort(new DOMException(`interrupted by ${name}`, 'AbortError'));
  };
  return {
    exitCode: () => code,
    signal() {
      if (!controller) {
        controller = new AbortController();
        for (const name of SIGNALS) source.on(name, onSignal);
      }
      return controller.signal;
    },
  };
}
