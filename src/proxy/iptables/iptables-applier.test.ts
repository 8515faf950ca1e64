import { expect, it } from 'vitest';
import { KernelNetwork, ProgramError, silentLogger } from '#base';
import type { ServicePortRules, ServiceRules } from '../rules/service-rules.ts';
import { IptablesApplier } from './iptables-applier.ts';

/** Records the inputs of iptables-restore. */
class RecordingKernel extends KernelNetwork {
  readonly inputs: string[] = [];
  fails = false;

  override async run(program: string, _args: readonly string[], { input = '' }: { readonly input?: string } = {}): Promise<string> {
    if (this.fails) throw new ProgramError('no lock', program, 4);
    if (program === 'iptables-restore') this.inputs.push(input);
    return '';
  }
}

const SETTINGS = { podCidrs: ['10.244.0.0/16'], nodePortAddresses: [], masqueradeAll: false, masqueradeBit: 14 };

function service(name: string, address: string, endpoints: number): ServiceRules {
  const addresses = Array.from({ length: endpoints }, (_, i) => ({ address: `10.244.0.${i + 1}`, port: 80, isLocal: false }));
  const port: ServicePortRules = {
    ...{ id: `default/${name}:http/4`, namespace: 'default', service: name, family: 4, protocol: 'tcp' },
    frontends: [{ kind: 'clusterIP', address, port: 80, endpoints: addresses, masquerade: 'not-pods' }],
  };
  return { ports: [port] };
}

function chainsIn(input = ''): readonly string[] {
  return Array.from(input.matchAll(/^:(SAMPAN-[A-Z-]+?)(?:-[0-9A-F]{16})? /gm), ([, name = '']) => name).toSorted();
}

async function applied(): Promise<{ kernel: RecordingKernel; applier: IptablesApplier }> {
  const kernel = new RecordingKernel();
  const applier = new IptablesApplier(SETTINGS, { kernel, logger: silentLogger });
  applier.set('default/a', service('a', '10.96.0.1', 3));
  applier.set('default/b', service('b', '10.96.0.2', 3));
  await applier.sync();
  kernel.inputs.length = 0;
  return { kernel, applier };
}

it('mode iptables writes only the chains that an endpoint changes, then removes those without use', async () => {
  const { kernel, applier } = await applied();
  applier.set('default/b', service('b', '10.96.0.2', 4));
  await applier.sync();
  expect(kernel.inputs.map(chainsIn)).toEqual([['SAMPAN-FRT', 'SAMPAN-SEP', 'SAMPAN-SVC'], ['SAMPAN-SVC']]);
  expect(kernel.inputs[0]).toContain('--to-destination 10.244.0.4:80');
  expect(kernel.inputs[1]).toMatch(/^-X SAMPAN-SVC-/m);
});

it('mode iptables writes nothing when nothing has changed, and everything to repair it', async () => {
  const { kernel, applier } = await applied();
  await applier.sync();
  expect(kernel.inputs).toEqual([]);
  await applier.repair();
  expect(chainsIn(kernel.inputs[0])).toEqual(expect.arrayContaining(['SAMPAN-SERVICES', 'SAMPAN-MARK', 'SAMPAN-NO-ENDPOINTS']));
});

it('mode iptables writes everything after a write that failed', async () => {
  const { kernel, applier } = await applied();
  applier.set('default/b', undefined);
  kernel.fails = true;
  await expect(applier.sync()).rejects.toThrow('no lock');
  kernel.fails = false;
  await applier.sync();
  expect(chainsIn(kernel.inputs[0])).toContain('SAMPAN-SERVICES');
  expect(kernel.inputs[0]).not.toContain('10.96.0.2');
});
