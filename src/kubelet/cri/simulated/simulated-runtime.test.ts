import type { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { seededRandom, VirtualClock } from '#base';
import { contractContainer, contractSandbox, describeRuntimeContract } from '../contract.ts';
import type { ContainerConfig, SandboxConfig } from '../runtime.ts';
import { commandScript } from './command-script.ts';
import { SimulatedRuntime, type SimulatedRuntimeConfig } from './simulated-runtime.ts';
import { parseStageFile } from './stage.ts';

const MISSING = parseStageFile('stages: [{ match: { image: "missing*" }, set: { pull-error: not found } }]');

function open(config: SimulatedRuntimeConfig = {}) {
  const clock = new VirtualClock();
  return { clock, runtime: new SimulatedRuntime(config, { clock, random: seededRandom(1) }) };
}

describeRuntimeContract('the simulated runtime', async () => {
  const { clock, runtime } = open({ stages: MISSING });
  return {
    runtime,
    image: 'busybox:1',
    missingImage: 'missing:1',
    command: (lines, code) => ['sh', '-c', `${lines.map((line) => `echo ${line}`).join('; ')}; exit ${code}`],
    endless: ['sleep', 'infinity'],
    linesOf: (id) => linesOf(runtime, id),
    pass: (ms) => clock.advance(ms),
    close: async () => {},
  };
});

async function linesOf(runtime: SimulatedRuntime, id: string): Promise<readonly string[]> {
  const lines: string[] = [];
  for await (const { content } of runtime.containerLog(id)) lines.push(content.toString().replace(/\n$/, ''));
  return lines;
}

function sandbox(annotations: Record<string, string>, labels: Record<string, string> = {}): SandboxConfig {
  const prefixed = Object.fromEntries(Object.entries(annotations).map(([key, value]) => [`sampan.dev/${key}`, value]));
  return { ...contractSandbox('u'), metadata: { namespace: 'ns', name: 'p', uid: 'u', attempt: 0 }, labels, annotations: prefixed };
}

function container(image: string, { attempt = 0, args = [] as readonly string[] } = {}): ContainerConfig {
  const config = contractContainer('u', { image, command: [] });
  return { ...config, metadata: { name: 'c', attempt }, image: { image, userSpecifiedImage: 'app:1' }, args };
}

async function start(annotations: Record<string, string>, { attempt = 0, args = [] as readonly string[], labels = {} } = {}) {
  const { clock, runtime } = open();
  const sandboxConfig = sandbox(annotations, labels);
  const sandboxId = await runtime.runPodSandbox(sandboxConfig);
  const image = await runtime.pullImage({ image: 'app:1' }, { sandboxConfig });
  const id = await runtime.createContainer(sandboxId, { config: container(image, { attempt, args }), sandboxConfig });
  await runtime.startContainer(id);
  return { clock, runtime, id, status: () => runtime.containerStatus(id) };
}

it('the simulated runtime fails to pull images that its registries do not have, unless the pod is annotated otherwise', async () => {
  const { runtime } = open();
  const pull = (annotations: Record<string, string>) =>
    runtime.pullImage({ image: 'webserver:404' }, { sandboxConfig: sandbox(annotations, {}) });
  await expect(pull({})).rejects.toThrow('webserver:404: not found');
  await expect(pull({ 'pull-error': 'a disk is full' })).rejects.toThrow('a disk is full');
  expect(await runtime.imageStatus({ image: 'webserver:404' })).toBeUndefined();
  await pull({ 'pull-failures': '0' });
  expect(await runtime.imageStatus({ image: 'webserver:404' })).toBeDefined();
});

it('the simulated runtime ends a followed log when the reader leaves', async () => {
  const { clock, runtime, id } = await start({});
  const stop = new AbortController();
  const entries: unknown[] = [];
  const reader = (async () => {
    for await (const entry of runtime.containerLog(id, { follow: true, signal: stop.signal })) entries.push(entry);
  })();
  await clock.advance(10);
  stop.abort();
  await reader;
  expect(entries).toHaveLength(1);
});

it('the simulated runtime gives each sandbox its own address, none on the host network', async () => {
  const { runtime } = open();
  const host = { ...sandbox({}).linux, securityContext: { namespaceOptions: { network: 'node', pid: 'container', ipc: 'pod' } as const } };
  const ids = [sandbox({}), sandbox({}), { ...sandbox({}), linux: host }].map((config) => runtime.runPodSandbox(config));
  const statuses = await Promise.all((await Promise.all(ids)).map((id) => runtime.podSandboxStatus(id)));
  expect(statuses.map(({ ips }) => ips.length)).toEqual([1, 1, 0]);
  expect(new Set(statuses.flatMap(({ ips }) => ips)).size).toBe(2);
});

it('the simulated runtime runs the scripted command with its streams', async () => {
  const { runtime, id } = await start({ 'exec-output': 'hello', 'exec-exit-code': '3' });
  const request = { containerId: id, command: ['x'], tty: false, stdin: true, stdout: true, stderr: true };
  const { stdout, stdin, exit } = await runtime.exec(request);
  stdin?.end('dropped');
  expect(Buffer.concat(await (stdout as Readable).toArray()).toString()).toBe('hello');
  expect(await exit).toEqual({ exitCode: 3 });
});

describe('a script', () => {
  const cases: readonly [string, Record<string, string>, number, number, object][] = [
    ['runs until it is stopped when nothing is said', {}, 0, 86_400_000, { state: 'running' }],
    ['ends after its run time', { 'run-time': '5s' }, 0, 5000, { state: 'exited', exitCode: 0, reason: 'Completed' }],
    ['still runs before', { 'run-time': '5s' }, 0, 4999, { state: 'running' }],
    ['ends at once with an exit code alone', { 'exit-code': '7' }, 0, 0, { state: 'exited', exitCode: 7, reason: 'Error' }],
    ['has an exit code a run', { 'exit-code': '1,2,0' }, 1, 0, { exitCode: 2 }],
    ['keeps the last exit code', { 'exit-code': '1,2,0' }, 9, 0, { exitCode: 0 }],
    [
      'has a reason and a message',
      { 'exit-code': '137', 'exit-reason': 'OOMKilled', 'termination-message': 'm' },
      0,
      0,
      { reason: 'OOMKilled', message: 'm' },
    ],
    ['may concern one container only', { 'exit-code.other': '1' }, 0, 1000, { state: 'running' }],
    ['prefers what is said of the container', { 'exit-code': '1', 'exit-code.c': '2' }, 0, 0, { exitCode: 2 }],
  ];
  it.each(cases)('%s', async (_name, annotations, attempt, afterMs, expected) => {
    const { clock, status } = await start(annotations, { attempt });
    await clock.advance(afterMs);
    expect(await status()).toMatchObject(expected);
  });

  it('takes time to pull, to start and to stop', async () => {
    const { clock, runtime } = open();
    const sandboxConfig = sandbox({ 'pull-time': '3s', 'start-time': '2s', 'stop-time': '4s', 'stop-exit-code': '143' });
    const sandboxId = await runtime.runPodSandbox(sandboxConfig);
    const pulling = runtime.pullImage({ image: 'app:1' }, { sandboxConfig });
    await clock.advance(2999);
    expect(await runtime.imageStatus({ image: 'app:1' })).toBeUndefined();
    await clock.advance(1);
    const id = await runtime.createContainer(sandboxId, { config: container(await pulling), sandboxConfig });
    const starting = runtime.startContainer(id);
    await clock.advance(2000);
    await starting;
    const stopping = runtime.stopContainer(id, 30_000);
    await clock.advance(4000);
    await stopping;
    const times = { startedAtMs: clock.now() - 4000, finishedAtMs: clock.now(), exitCode: 143 };
    expect(await runtime.containerStatus(id)).toMatchObject(times);
    expect(clock.pendingTimers).toBe(0);
  });

  it('is killed when it does not stop in time', async () => {
    const { clock, runtime, id, status } = await start({ 'stop-time': 'never' });
    const stopping = runtime.stopContainer(id, 10_000);
    await clock.advance(9999);
    expect((await status()).state).toBe('running');
    await clock.advance(1);
    await stopping;
    expect(await status()).toMatchObject({ state: 'exited', exitCode: 137 });
  });

  it('fails to start as often as it says', async () => {
    await expect(start({ 'start-error': 'no such file', 'start-failures': '1' })).rejects.toThrow('no such file');
    expect(await (await start({ 'start-error': 'no such file', 'start-failures': '1' }, { attempt: 1 })).status()).toMatchObject({
      state: 'running',
    });
  });

  it('answers probes by the age of the container, with the time of the next change', async () => {
    const { clock, runtime, id } = await start({ 'readiness-probe': 'fail,pass@10s,fail@1m', 'probe-output': 'HTTP 500' });
    const begin = clock.now();
    const ask = () => runtime.probe(id, { type: 'readiness', probe: {}, timeoutMs: 1000 });
    expect(await ask()).toEqual({ passed: false, output: 'HTTP 500', sameUntilMs: begin + 10_000 });
    await clock.advance(10_000);
    expect(await ask()).toMatchObject({ passed: true, sameUntilMs: begin + 60_000 });
    await clock.advance(50_000);
    expect(await ask()).toMatchObject({ passed: false, sameUntilMs: Infinity });
    expect(await runtime.probe(id, { type: 'liveness', probe: {}, timeoutMs: 1 })).toMatchObject({ passed: true });
  });

  it('writes lines at their time, and at an interval, without timers', async () => {
    const { clock, runtime, id } = await start({ logs: 'first\n@3s later', 'log-interval': '2s', 'log-line': 'tick' });
    await clock.advance(4000);
    expect(await linesOf(runtime, id)).toEqual(['first', 'tick', 'later', 'tick']);
    expect(clock.pendingTimers).toBe(0);
  });

  const mistakes: readonly [Record<string, string>, RegExp][] = [
    [{ 'run-time': 'soon' }, /sampan.dev\/run-time is "soon": it must be a duration/],
    [{ 'exit-code': '300' }, /must be exit codes/],
    [{ 'readiness-probe': 'maybe' }, /must be pass, fail, or steps/],
    [{ 'start-failures': '-1' }, /must be a whole number/],
  ];
  it.each(mistakes)('that cannot be followed is refused: %j', async (annotations, message) => {
    await expect(start(annotations)).rejects.toThrow(message);
  });
});

describe('a command', () => {
  const cases: readonly [readonly string[], object | undefined][] = [
    [['true'], { exitCode: 0, runTimeMs: 0 }],
    [['/bin/false'], { exitCode: 1 }],
    [['sleep', '5'], { exitCode: 0, runTimeMs: 5000 }],
    [['sleep', '1.5m'], { runTimeMs: 90_000 }],
    [['sh', '-c', 'echo a b; sleep 2 && exit 3; echo never'], { exitCode: 3, runTimeMs: 2000, lines: [{ afterMs: 0, line: 'a b' }] }],
    [['bash', '-ec', "false || echo 'c  d'\nfalse && exit 9"], { exitCode: 1, lines: [{ afterMs: 0, line: 'c  d' }] }],
    [['sh', '-c', 'while true; do sleep 1; done'], undefined],
    [['sh', '-c', 'echo $HOME'], undefined],
    [['sh', '-c', 'echo a | cat'], undefined],
    [['nginx', '-g', 'daemon off;'], undefined],
    [['sh'], undefined],
  ];
  it.each(cases)('%j', (words, expected) => {
    const script = commandScript(words);
    if (expected === undefined) expect(script).toBeUndefined();
    else expect(script).toMatchObject(expected);
  });

  it('of a Job without a script exits with 0', async () => {
    const { clock, status } = await start({}, { args: ['perl', '-e', 'x'], labels: { 'batch.kubernetes.io/job-name': 'pi' } });
    await clock.advance(0);
    expect(await status()).toMatchObject({ state: 'exited', exitCode: 0 });
  });
});

describe('a stage file', () => {
  it('says what matching pods do, unless their annotations say otherwise', async () => {
    const stages = parseStageFile(`
stages:
- match: { namespace: n*, labels: { app: slow } }
  set: { pull-time: 5s, sandbox-error: broken }
- match: { name: other }
  set: { sandbox-error: worse }
`);
    const { runtime } = open({ stages });
    await expect(runtime.runPodSandbox(sandbox({}, { app: 'slow' }))).rejects.toThrow('broken');
    await expect(runtime.runPodSandbox(sandbox({ 'sandbox-error': 'own' }, { app: 'slow' }))).rejects.toThrow('own');
    await runtime.runPodSandbox(sandbox({}, { app: 'fast' }));
  });

  const mistakes: readonly [string, RegExp][] = [
    ['[]', /one member, "stages"/],
    ['stages: [{ match: {} }]', /stages\[0\] must have "set"/],
    ['stages: [{ set: { pul-time: 1s } }]', /unknown member "pul-time"/],
    ['stages: [{ set: { pull-time: x } }]', /must be a duration/],
    ['stages: [{ set: {}, match: { image: [] } }]', /stages\[0\].match.image must be a text/],
    ['stages: [{ set: {}, when: 1 }]', /unknown member "when"/],
  ];
  it.each(mistakes)('with a mistake is refused: %s', (text, message) => {
    expect(() => parseStageFile(text)).toThrow(message);
  });
});
