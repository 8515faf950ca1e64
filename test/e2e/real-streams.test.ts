import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RealNode, whyNoContainers } from './real-node.ts';

const reason = whyNoContainers();
const OLD_KUBECTL = process.env.OLD_KUBECTL ?? '';
const SPDY = ['KUBECTL_REMOTE_COMMAND_WEBSOCKETS=false', 'KUBECTL_PORT_FORWARD_WEBSOCKETS=false'];
const KUBECTLS = [
  { name: 'kubectl over WebSocket', command: ['kubectl'], suffix: 'w' },
  { name: 'kubectl over SPDY', command: [...SPDY, 'kubectl'], suffix: 's' },
  ...(existsSync(OLD_KUBECTL) ? [{ name: 'kubectl 1.20', command: [OLD_KUBECTL], suffix: 'o' }] : []),
];

const WEB = `
apiVersion: v1
kind: Pod
metadata: { name: web }
spec:
  terminationGracePeriodSeconds: 0
  containers:
  - name: web
    image: busybox:1
    command: [sh, -c, 'mkdir /www; echo hello > /www/index.html; httpd -p 8080 -h /www; while read line; do echo "read $line"; done; sleep 100000']
    stdin: true
`;

describe.skipIf(reason !== undefined)('streams to the containers of a real node', () => {
  let node: RealNode;
  beforeAll(async () => {
    node = await RealNode.start();
    await node.apply(WEB);
    await node.kubectl('wait', '--for=condition=Ready', 'pod/web', '--timeout=25s');
  }, 180_000);
  afterAll(async () => {
    await node?.[Symbol.asyncDispose]();
  });

  describe.each(KUBECTLS)('$name', ({ command, suffix }) => {
    const run = (args: readonly string[], input?: string) => node.run('env', [...command, ...args], input);

    test('runs a command with input, output, errors and exit code', async () => {
      const { code, stdout, stderr } = await run(['exec', '-i', 'web', '--', 'sh', '-c', 'cat; echo err >&2; exit 7'], 'in\n');
      expect([code, stdout, stderr]).toEqual([7, 'in\n', 'err\ncommand terminated with exit code 7\n']);
    });

    test('copies a file in and out unchanged', async () => {
      const bytes = randomBytes(3 << 20);
      writeFileSync(node.at.path('in.bin'), bytes);
      expect(await run(['cp', 'in.bin', `web:/tmp/${suffix}.bin`])).toMatchObject({ code: 0 });
      const digest = createHash('sha256').update(bytes).digest('hex');
      expect((await run(['exec', 'web', '--', 'sha256sum', `/tmp/${suffix}.bin`])).stdout).toBe(`${digest}  /tmp/${suffix}.bin\n`);
      expect(await run(['cp', `web:/tmp/${suffix}.bin`, 'out.bin'])).toMatchObject({ code: 0 });
      expect(readFileSync(node.at.path('out.bin')).equals(bytes)).toBe(true);
    });

    test('runs a pod with its input until that ends', async () => {
      const name = `piped-${suffix}`;
      const { code, stdout } = await run(
        ['run', '-i', name, '--image=busybox:1', '--restart=Never', '--rm', '--', 'sh'],
        'hostname\nsleep 1\nexit 3\n',
      );
      expect([code, stdout]).toEqual([3, `${name}\npod "${name}" deleted\n`]);
    });

    test('forwards a port', async () => {
      const script = `env ${command.join(' ')} port-forward pod/web 0:8080 > ${suffix}.log & pid=$!
        for i in $(seq 100); do port=$(sed -n 's/.*127.0.0.1:\\([0-9]*\\).*/\\1/p' ${suffix}.log); [ -n "$port" ] && break; sleep 0.2; done
        curl -s --max-time 10 http://127.0.0.1:$port/; curl -s --max-time 10 http://127.0.0.1:$port/; kill $pid`;
      expect((await node.run('env', ['sh', '-c', script])).stdout).toBe('hello\nhello\n');
    });

    test('attaches to a container that reads', async () => {
      const { stdout } = await node.run('env', [
        'sh',
        '-c',
        `(echo ${suffix}; sleep 3) | timeout 8 env ${command.join(' ')} attach -i web`,
      ]);
      expect(stdout).toContain(`read ${suffix}\n`);
    });
  });

  test('kubectl debug enters a pod with a container of its own', async () => {
    const { code, stdout } = await node.run('kubectl', [
      'debug',
      '-i',
      'web',
      '--image=busybox:1',
      '--profile=general',
      '-c',
      'tools',
      '--',
      'wget',
      '-qO-',
      'http://127.0.0.1:8080/',
    ]);
    expect([code, stdout]).toEqual([0, expect.stringContaining('hello\n')]);
  });
});
