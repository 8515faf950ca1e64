import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { core, discovery } from '#api';
import { computeServiceRules } from '../rules/compute-rules.ts';
import { NftablesRules } from './nftables-rules.ts';

const settings = {
  family: 4,
  podCidrs: ['10.244.0.0/16'],
  nodePortAddresses: ['192.168.0.1'],
  masqueradeAll: false,
  masqueradeBit: 14,
} as const;
const node = { name: 'n1', zone: 'z1' };

const endpoint = fc.record({
  addresses: fc.constantFrom('10.244.0.2', '10.244.0.3', '10.244.1.2', '10.244.1.3').map((address) => [address]),
  conditions: fc.constantFrom({ ready: true }, { ready: false }, { ready: false, serving: true, terminating: true }),
  nodeName: fc.constantFrom('n1', 'n2'),
});
const slice = fc.record({
  addressType: fc.constant('IPv4'),
  ports: fc.constantFrom([{ name: 'a', port: 8080 }], [{ name: 'a', port: 8081 }], []),
  endpoints: fc.array(endpoint, { maxLength: 4 }),
}) as fc.Arbitrary<unknown> as fc.Arbitrary<discovery.EndpointSlice>;
const service = (name: string) =>
  fc.record({
    metadata: fc.constant({ name, namespace: 'default' }),
    spec: fc.record({
      type: fc.constant('LoadBalancer'),
      // Overlapping on purpose: two services may request the same address or node port.
      clusterIP: fc.constantFrom('10.96.0.1', '10.96.0.2', '10.96.0.3', 'None'),
      ports: fc.constantFrom(
        [{ name: 'a', port: 80, nodePort: 30_000 }],
        [{ name: 'a', port: 80, protocol: 'UDP' }],
        [{ name: 'a', port: 81, nodePort: 30_001 }],
      ),
      externalIPs: fc.subarray(['192.168.9.1', '192.168.9.2']),
      externalTrafficPolicy: fc.constantFrom('Cluster', 'Local'),
      internalTrafficPolicy: fc.constantFrom('Cluster', 'Local'),
      sessionAffinity: fc.constantFrom('None', 'ClientIP'),
      loadBalancerSourceRanges: fc.subarray(['10.0.0.0/8', '192.168.0.0/16']),
    }),
    status: fc.constantFrom({}, { loadBalancer: { ingress: [{ ip: '192.168.9.9' }] } }),
  }) as fc.Arbitrary<unknown> as fc.Arbitrary<core.Service>;
const step = fc.constantFrom('s1', 's2', 's3').chain((name) =>
  fc.record({
    name: fc.constant(name),
    service: fc.option(service(name), { nil: undefined }),
    slices: fc.array(slice, { maxLength: 2 }),
    isApplied: fc.boolean(),
  }),
);

/** The table that the kernel would have after a script. */
class Table {
  readonly chains = new Map<string, string[]>();
  readonly sets = new Set<string>();
  readonly elements = new Map<string, string>();

  apply(script: string): void {
    for (const line of script.split('\n').filter((text) => text !== '')) this.#command(line);
  }

  #command(line: string): void {
    const [verb, object, , , name = '', ...rest] = line.split(' ');
    if (object === 'element') this.#change(verb as string, name, rest.join(' '));
    else if (object === 'rule') this.#chain(name).push(rest.join(' '));
    else if (verb === 'flush') this.#chain(name).length = 0;
    else if (object === 'chain' && verb === 'add') this.#add(this.chains, name);
    else if (object === 'chain') this.#removeChain(name);
    else if (verb === 'add') this.sets.add(name);
    else if (!this.sets.delete(name)) throw new Error(`there is no set ${name}`);
  }

  #chain(name: string): string[] {
    const chain = this.chains.get(name);
    if (chain === undefined) throw new Error(`there is no chain ${name}`);
    return chain;
  }

  #add(chains: Map<string, string[]>, name: string): void {
    if (chains.has(name)) throw new Error(`chain ${name} is there already`);
    chains.set(name, []);
  }

  #removeChain(name: string): void {
    const users = [...[...this.chains.values()].flat(), ...this.elements.values()];
    if (users.some((text) => text.split(/[\s,}]+/).includes(name))) throw new Error(`chain ${name} is in use`);
    if (!this.chains.delete(name)) throw new Error(`there is no chain ${name}`);
  }

  #change(verb: string, set: string, list: string): void {
    for (const item of list.slice(2, -2).split(', ')) {
      const [key = '', value = ''] = item.split(' : ');
      const id = `${set} ${key}`;
      if (verb === 'add' && this.elements.has(id)) throw new Error(`${id} is there already`);
      if (verb === 'add') this.elements.set(id, value);
      else if (!this.elements.delete(id)) throw new Error(`${id} is not there`);
    }
  }

  content(): unknown {
    return { chains: new Map([...this.chains].sort()), sets: [...this.sets].sort(), elements: new Map([...this.elements].sort()) };
  }
}

describe('changes of the rules of services', () => {
  it('lead to the same table as writing all of it', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
        const book = new NftablesRules(settings);
        const table = new Table();
        for (const { name, service, slices, isApplied } of steps) {
          book.set(name, service && computeServiceRules(service, slices, node));
          if (isApplied) table.apply(book.takeChanges().script);
        }
        table.apply(book.takeChanges().script);
        const fresh = new NftablesRules(settings);
        const last = new Map(steps.map((change) => [change.name, change]));
        for (const [name, { service, slices }] of [...last].reverse())
          fresh.set(name, service && computeServiceRules(service, slices, node));
        const allRules = new Table();
        allRules.apply(fresh.takeChanges().script);
        expect(table.content()).toEqual(allRules.content());
        expect(book.describe()).toEqual(fresh.describe());
      }),
      { numRuns: 500 },
    );
  });

  it('are none where nothing changed', () => {
    const book = new NftablesRules(settings);
    const clusterService: core.Service = {
      metadata: { name: 's', namespace: 'd' },
      spec: { clusterIP: '10.96.0.1', ports: [{ port: 80 }] },
    } as core.Service;
    book.set('d/s', computeServiceRules(clusterService, [], node));
    expect(book.takeChanges().script).toContain('reject-connection');
    book.set('d/s', computeServiceRules(clusterService, [], node));
    expect(book.takeChanges().script).toBe('');
  });
});
