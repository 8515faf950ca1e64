import { type AsyncMutex, type MethodEntry, type ServedMethod, type ServerCall, unaryMethod } from '#base';
import type { Faults } from './faults.ts';

const GARBAGE = Buffer.from([0xff, 0xff, 0xff, 0xff, 0x0f, 0x01]);

export interface CallLog {
  readonly calls: string[];
  readonly requests: Map<string, unknown>;
  readonly faults: Faults;
  /** A recorded call. */
  readonly lock: AsyncMutex;
}

/** Wraps the methods of a service: each call is recorded, and fails as its injected fault says. */
export function servedMethods(log: CallLog) {
  return <Request, Response>(method: ServedMethod<Request, Response>, act: (request: Request) => Promise<Response>): MethodEntry => {
    const name = method.name.slice(method.name.indexOf('/') + 1);
    const garbage = {} as Response;
    const response = { encode: (value: Response) => (value === garbage ? GARBAGE : method.response.encode(value)) };
    return unaryMethod({ ...method, response }, (request: Request, { signal }: ServerCall) => {
      log.calls.push(name);
      log.requests.set(name, request);
      return log.faults.run<Response>({
        ...{ name, signal, act: () => log.lock.run(() => act(request)), garbage: () => garbage },
        nothing: () => ({}) as Response,
      });
    });
  };
}
