import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { core } from '#api';
import type { RuntimeStatus } from '../cri/runtime.ts';
import { UserNamespaces } from './user-namespaces.ts';

const handler = (name: string, userNamespaces: boolean) => ({ name, userNamespaces, recursiveReadOnlyMounts: true });
const runtimeWith = (...handlers: RuntimeStatus['handlers']) => ({
  status: async () => ({
    conditions: [],
    handlers,
    features: { supplementalGroupsPolicy: true, userNamespacesHostNetwork: false, mountOptions: false },
  }),
});
const pod = (uid: string, hostUsers: boolean | undefined = false): core.Pod => ({
  metadata: { name: 'p', uid },
  spec: { containers: [], ...(hostUsers !== undefined && { hostUsers }) },
});

let rootDir: string;
beforeEach(async () => {
  rootDir = await mkdtemp(path.join(os.tmpdir(), 'userns-'));
});
afterEach(() => rm(rootDir, { recursive: true }));

const able = runtimeWith(handler('', true), handler('old', false));
const firstIds = async (namespaces: UserNamespaces, uid: string) => (await namespaces.allocate(pod(uid), ''))?.uids[0]?.hostId;

describe('user namespaces', () => {
  it('have ranges that no two pods share, never the machine’s own, and are free again when the pod is gone', async () => {
    const namespaces = new UserNamespaces({ rootDir }, able);
    expect([await firstIds(namespaces, 'a'), await firstIds(namespaces, 'b'), await firstIds(namespaces, 'a')]).toEqual([
      65_536, 131_072, 65_536,
    ]);
    namespaces.release('a');
    expect(await firstIds(namespaces, 'c')).toBe(65_536);
  });

  it('are in a file of the pod, in upstream’s form, and survive a restart', async () => {
    await firstIds(new UserNamespaces({ rootDir }, able), 'a');
    const mappings = [{ hostId: 65_536, containerId: 0, length: 65_536 }];
    const text = await readFile(path.join(rootDir, 'pods/a/userns'), 'utf8');
    expect(JSON.parse(text)).toEqual({ uidMappings: mappings, gidMappings: mappings });
    const next = new UserNamespaces({ rootDir }, able);
    await next.open();
    expect([await firstIds(next, 'b'), await firstIds(next, 'a')]).toEqual([131_072, 65_536]);
  });

  it('are made of the ids that the machine has for them, until there are none left', async () => {
    const namespaces = new UserNamespaces({ rootDir, ids: { firstId: 1_048_576, length: 131_072 } }, able);
    expect([await firstIds(namespaces, 'a'), await firstIds(namespaces, 'b')]).toEqual([1_048_576, 1_114_112]);
    await expect(firstIds(namespaces, 'c')).rejects.toThrow('could not find an empty slot to allocate a user namespace');
  });

  it.each([
    [{ firstId: 100_000, length: 65_536 }, 'kubelet user assigned ID 100000 is not a multiple of 65536'],
    [{ firstId: 0, length: 65_536 }, 'kubelet user assigned ID 0 must be greater or equal to 65536'],
    [{ firstId: 65_536, length: 70_000 }, 'kubelet user assigned IDs length 70000 is not a multiple of 65536'],
    [{ firstId: 65_536, length: 65_536 }, 'kubelet user assigned IDs are not enough to support 2 pods'],
  ])('are not made of %j', (ids, problem) => {
    expect(() => new UserNamespaces({ rootDir, ids, maxPods: 2 }, able)).toThrow(problem);
  });

  it('refuse to start on mappings that do not fit', async () => {
    await firstIds(new UserNamespaces({ rootDir }, able), 'a');
    const other = new UserNamespaces({ rootDir, idsPerPod: 131_072 }, able);
    await expect(other.open()).rejects.toThrow('record pod mappings for existing pod "a": wrong user namespace length 65536');
    await writeFile(path.join(rootDir, 'pods/a/userns'), '{');
    await expect(new UserNamespaces({ rootDir }, able).open()).rejects.toThrow('invalid user namespace mappings file');
  });

  it('are not made of pods that have the machine’s users', async () => {
    const namespaces = new UserNamespaces({ rootDir }, runtimeWith());
    expect(await namespaces.allocate(pod('a', true), '')).toBeUndefined();
    expect(await namespaces.allocate({ metadata: { name: 'p', uid: 'a' } }, '')).toBeUndefined();
  });

  it.each([
    [runtimeWith(), '', 'runtime does not support user namespaces'],
    [able, 'old', 'RuntimeClass handler "old" does not support user namespaces'],
    [able, 'other', 'RuntimeClass handler "other" does not support user namespaces: the handler "other" is not known'],
  ])('fail as upstream’s where the runtime cannot, %#', async (runtime, name, text) => {
    const allocated = new UserNamespaces({ rootDir }, runtime).allocate(pod('a'), name);
    await expect(allocated).rejects.toThrow(`can't set \`spec.hostUsers: false\`, ${text}`);
  });
});
