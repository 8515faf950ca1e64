import { constants } from 'node:os';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** The wish of whoever runs the program that it stop. */
export interface Interruption {
  /** Aborts at the first SIGINT, SIGTERM or SIGHUP. Until somebody asks for it, signals end the process as usual. */
  signal(): AbortSignal;
  /** 128 and the number of the signal that came, as shells have it; undefined when none came. */
  exitCode(): number | undefined;
}

/** The second signal ends the process at once: a stop that hangs must not hold its user. */
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
