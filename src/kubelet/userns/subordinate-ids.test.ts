import { describe, expect, it } from 'vitest';
import { subordinateIds } from './subordinate-ids.ts';

/** A machine on which programs print these texts; undefined: there is no such program. */
const machine = (outputs: Readonly<Record<string, string | undefined>>) => async (program: string, args: readonly string[]) => {
  const output = outputs[[program, ...args].join(' ')];
  if (output === undefined) throw new Error(`cannot run ${program}`, { cause: { code: 'ENOENT' } });
  return output;
};
const USER = { 'id -u kubelet': '998\n' };
const LINE = '0: kubelet 65536 2147483648\n';

describe('the subordinate ids of the kubelet', () => {
  it('are those of its user', async () => {
    const run = machine({ ...USER, 'getsubids kubelet': LINE, 'getsubids -g kubelet': LINE });
    expect(await subordinateIds(run)).toEqual({ firstId: 65_536, length: 2_147_483_648 });
  });

  it('are undefined without the user, or without getsubids', async () => {
    expect(await subordinateIds(machine({ 'getsubids kubelet': LINE }))).toBeUndefined();
    expect(await subordinateIds(machine(USER))).toBeUndefined();
  });

  it.each([
    ['0: kubelet 65536 65536\n1: kubelet 262144 65536\n', 'it must contain only one line'],
    ['kubelet 65536\n', 'invalid line'],
    ['0: kubelet 65536 4294967296\n', 'ids are numbers below 2^32'],
  ])('cannot be read from %j', async (output, problem) => {
    const run = machine({ ...USER, 'getsubids kubelet': output, 'getsubids -g kubelet': output });
    await expect(subordinateIds(run)).rejects.toThrow(problem);
  });

  it('must be the same for users and groups', async () => {
    const run = machine({ ...USER, 'getsubids kubelet': LINE, 'getsubids -g kubelet': '0: kubelet 131072 65536\n' });
    await expect(subordinateIds(run)).rejects.toThrow('mismatched subuids and subgids for user "kubelet"');
  });
});
