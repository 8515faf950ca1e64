import { describe, expect, it } from 'vitest';
import { seededRandom, VirtualClock } from '#base';
import { describeRuntimeContract } from '../contract.ts';
import type { SandboxConfig } from '../runtime.ts';
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
    pass: (ms) => clock.advance(ms),
    close: async () => {},
  };
});

function sandbox(annotations: Record<string, string>, labels: Record<string, string> = {}): SandboxConfig {
  const prefixed = Object.fromEntries(Object.entries(annotations).map(([key, value]) => [`sampan.dev/${key}`, value]));
  return { namespace: 'ns', name: 'p', uid: 'u', attempt: 0, hostname: 'p', hostNetwork: false, labels, annotations: prefixed };
}

async function start(annotations: Record<string, string>, { attempt = 0, args = [] as readonly string[], labels = {} } = {}) {
  const { clock, runtime } = open();
  const config = sandbox(annotations, labels);
  const sandboxId = await runtime.runPodSandbox(config);
  const { ref: imageRef } = await runtime.pullImage('app:1', config);
  const container = { name: 'c', image: 'app:1', imageRef, command: [], args, env: [], specHash: '', tty: false, stdin: false };
  const id = await runtime.createContainer(sandboxId, { ...container, attempt });
  await runtime.startContainer(id);
  return { clock, runtime, id, status: async () => (await runtime.listContainers())[0] };
}

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
    const config = sandbox({ 'pull-time': '3s', 'start-time': '2s', 'stop-time': '4s', 'stop-exit-code': '143' });
    const sandboxId = await runtime.runPodSandbox(config);
    const pulling = runtime.pullImage('app:1', config);
    await clock.advance(2999);
    expect(await runtime.imageStatus('app:1')).toBeUndefined();
    await clock.advance(1);
    const { ref: imageRef } = await pulling;
    const container = {
      name: 'c',
      attempt: 0,
      image: 'app:1',
      imageRef,
      command: [],
      args: [],
      env: [],
      specHash: '',
      tty: false,
      stdin: false,
    };
    const id = await runtime.createContainer(sandboxId, container);
    const starting = runtime.startContainer(id);
    await clock.advance(2000);
    await starting;
    const stopping = runtime.stopContainer(id, 30_000);
    await clock.advance(4000);
    await stopping;
    const times = { startedAtMs: clock.now() - 4000, finishedAtMs: clock.now(), exitCode: 143 };
    expect((await runtime.listContainers())[0]).toMatchObject(times);
    expect(clock.pendingTimers).toBe(0);
  });

  it('is killed when it does not stop in time', async () => {
    const { clock, runtime, id, status } = await start({ 'stop-time': 'never' });
    const stopping = runtime.stopContainer(id, 10_000);
    await clock.advance(9999);
    expect((await status())?.state).toBe('running');
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

  it('answers probes by the age of the container, and says until when', async () => {
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
    const lines: string[] = [];
    for await (const { line } of runtime.containerLog(id)) lines.push(line);
    expect(lines).toEqual(['first', 'tick', 'later', 'tick']);
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

  it('of a Job that nothing is known of ends well', async () => {
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
