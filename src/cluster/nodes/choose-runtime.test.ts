import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { field, GrpcServer, message, realClock, unaryMethod } from '#base';
import { chooseRuntime, type RuntimeSite } from './choose-runtime.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(path.join(os.tmpdir(), 'choose-'));
});
afterEach(() => rm(directory, { recursive: true }));

/** A machine with nothing installed except what a test adds. */
async function site(has: { programs?: readonly string[]; overrides?: Partial<RuntimeSite> } = {}): Promise<RuntimeSite> {
  const bin = path.join(directory, 'bin');
  await mkdir(bin, { recursive: true });
  for (const name of has.programs ?? []) {
    await writeFile(path.join(bin, name), '#!/bin/sh\n');
    await chmod(path.join(bin, name), 0o755);
  }
  const machine = { isRoot: true, platform: 'linux', arch: 'x64', clock: realClock, machineSockets: [] };
  return { ...machine, dataDirectory: path.join(directory, 'data'), searchPath: bin, standardPath: [], ...has.overrides };
}

const Version = message({ version: field(1, 'string'), runtimeName: field(2, 'string'), runtimeVersion: field(3, 'string') });

/** A socket with a responding runtime. */
function fakeRuntime(): Promise<GrpcServer> {
  const method = { name: 'runtime.v1.RuntimeService/Version', request: message({}), response: Version };
  const endpoint = `unix://${directory}/cri.sock`;
  return GrpcServer.start({ endpoint, methods: [unaryMethod(method, () => ({ runtimeName: 'fake', runtimeVersion: '1.2' }))] });
}

const ALL = { programs: ['containerd', 'runc'] };

test('runtime auto starts a private containerd where it may', async () => {
  const chosen = await chooseRuntime('auto', await site(ALL));
  expect(chosen).toMatchObject({
    type: 'containerd',
    containerd: { ociRuntime: path.join(directory, 'bin', 'runc'), architecture: 'amd64' },
  });
});

test('crun is used if runc is missing', async () => {
  const chosen = await chooseRuntime('containerd', await site({ programs: ['containerd', 'crun'] }));
  expect(chosen).toMatchObject({ containerd: { ociRuntime: path.join(directory, 'bin', 'crun') } });
});

test.each([
  ['without containerd', {}, 'containerd is not on this machine: install containerd and runc'],
  ['without runc', { programs: ['containerd'] }, 'runc is not on this machine'],
  ['of a user who is not root', { ...ALL, overrides: { isRoot: false } }, 'starting containers needs root'],
  ['with another system', { ...ALL, overrides: { platform: 'darwin' } }, 'containers need Linux'],
  ['with another processor', { ...ALL, overrides: { arch: 's390x' } }, 'there is no sandbox image for processors of type s390x'],
])('on a machine %s auto simulates and says why, and containerd is an error', async (_, has, message) => {
  expect(await chooseRuntime('auto', await site(has))).toMatchObject({ type: 'simulated', reason: expect.stringContaining(message) });
  await expect(chooseRuntime('containerd', await site(has))).rejects.toThrow(message);
});

test("auto takes a socket of the machine's where it may start none", async () => {
  await using _server = await fakeRuntime();
  const sockets = [path.join(directory, 'missing.sock'), path.join(directory, 'cri.sock')];
  const chosen = await chooseRuntime('auto', await site({ overrides: { machineSockets: sockets } }));
  expect(chosen).toEqual({
    type: 'socket',
    endpoint: `unix://${directory}/cri.sock`,
    description: `fake 1.2 at unix://${directory}/cri.sock`,
  });
});

test('an explicit runtime socket is used, or is an error', async () => {
  await using _server = await fakeRuntime();
  expect(await chooseRuntime(`unix://${directory}/cri.sock`, await site(ALL))).toMatchObject({ type: 'socket' });
  await expect(chooseRuntime(`unix://${directory}/none.sock`, await site(ALL))).rejects.toThrow('no container runtime answers at');
});

test('runtime simulated chooses the simulated runtime', async () => {
  expect(await chooseRuntime('simulated', await site(ALL))).toEqual({ type: 'simulated', description: 'simulated' });
});
