import type { core } from '#api';

/** A port of a service, and where a pod serves it. */
export interface TargetPort {
  readonly servicePort: core.ServicePort;
  readonly port: number;
}

/**
 * What follows from the target ports of a service on a pod. Pods with the same named ports share the result: a service may have thousands of ports, and
 * a thousand pods.
 */
export class TargetPorts<R> {
  readonly #results = new Map<string, R>();
  readonly #ports: readonly core.ServicePort[];
  readonly #hasNames: boolean;

  constructor(
    { spec }: core.Service,
    private readonly resultOf: (ports: readonly TargetPort[]) => R,
  ) {
    this.#ports = spec?.ports ?? [];
    this.#hasNames = this.#ports.some(({ targetPort }) => typeof targetPort === 'string');
  }

  of(pod: core.Pod): R {
    const named = this.#hasNames ? namedPorts(pod) : NO_PORTS;
    const key = named.size === 0 ? '' : JSON.stringify([...named]);
    let result = this.#results.get(key);
    if (result === undefined) {
      result = this.resultOf(this.#ports.flatMap((servicePort) => targetOf(servicePort, named)));
      this.#results.set(key, result);
    }
    return result;
  }
}

type NamedPorts = ReadonlyMap<string, number>;
const NO_PORTS: NamedPorts = new Map();

/** None when the pod has no port of that name. */
function targetOf(servicePort: core.ServicePort, named: NamedPorts): readonly TargetPort[] {
  const { targetPort = 0, protocol = 'TCP' } = servicePort;
  const port = typeof targetPort === 'number' ? targetPort : named.get(`${protocol} ${targetPort}`);
  return port === undefined ? [] : [{ servicePort, port }];
}

/** Container ports by protocol and name; of equal ones the first. */
function namedPorts({ spec }: core.Pod): NamedPorts {
  const named = new Map<string, number>();
  const sidecars = (spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
  for (const { ports = [] } of [...(spec?.containers ?? []), ...sidecars]) {
    for (const { name = '', protocol = 'TCP', containerPort } of ports) {
      const key = `${protocol} ${name}`;
      if (!named.has(key)) named.set(key, containerPort);
    }
  }
  return named;
}
