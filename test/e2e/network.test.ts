import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RealNode, whyNoContainers } from './real-node.ts';

const reason = whyNoContainers();
if (reason !== undefined) console.info(`the network of real nodes is not tested: ${reason}`);

const POLL = { timeout: 60_000, interval: 250 };
const MANIFEST = `
apiVersion: v1
kind: Service
metadata: { name: web }
spec:
  type: LoadBalancer
  selector: { app: web }
  ports: [{ name: http, port: 80, targetPort: 8080 }, { name: echo, port: 7, targetPort: 8007 }]
---
apiVersion: v1
kind: Pod
metadata: { name: web, labels: { app: web } }
spec:
  terminationGracePeriodSeconds: 1
  containers:
  - name: web
    image: busybox:1
    command: [sh, -c, 'mkdir /www; echo from the pod > /www/index.html; nc -ll -p 8007 -e cat & exec httpd -f -p 8080 -h /www']
    readinessProbe: { httpGet: { path: /, port: 8080 }, periodSeconds: 1 }
---
apiVersion: v1
kind: Pod
metadata: { name: client, annotations: { kubernetes.io/ingress-bandwidth: 10M } }
spec:
  terminationGracePeriodSeconds: 1
  containers: [{ name: client, image: 'busybox:1', command: [sleep, '100000'] }]
`;

/** Responds to every request with its method and path, as JSON. */
const ECHO_SCRIPT = String.raw`
    read -r method path rest
    while read -r line && [ "$line" != "$(printf '\r')" ]; do :; done
    body="{\"method\":\"$method\",\"path\":\"$path\"}"
    printf 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n' "$(printf %s "$body" | wc -c)"
    [ "$method" = HEAD ] || printf %s "$body"`;
const CONFORMANCE_MANIFEST = `
apiVersion: v1
kind: Service
metadata: { name: echo }
spec: { selector: { app: echo }, ports: [{ port: 80 }] }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: echo }
data:
  answer: |${ECHO_SCRIPT}
---
apiVersion: v1
kind: Pod
metadata: { name: echo, labels: { app: echo } }
spec:
  terminationGracePeriodSeconds: 1
  containers:
  - name: echo
    image: busybox:1
    command: [nc, -ll, -p, '80', -e, sh, /script/answer]
    volumeMounts: [{ name: script, mountPath: /script }]
  volumes: [{ name: script, configMap: { name: echo } }]
---
apiVersion: v1
kind: Service
metadata: { name: peers }
spec: { clusterIP: None, selector: { app: peer }, ports: [{ name: http, port: 8080 }] }
---
apiVersion: v1
kind: Pod
metadata: { name: named, labels: { app: peer } }
spec:
  hostname: querier
  subdomain: peers
  terminationGracePeriodSeconds: 1
  containers: [{ name: named, image: 'busybox:1', command: [sleep, '100000'] }]
`;

/** Sends requests in sequence, and prints the responses. */
const REQUESTS = `
const requests = JSON.parse(process.argv[1]);
(async () => {
  const answers = [];
  for (const { method, url } of requests) {
    const answer = await fetch(url, { method, redirect: 'manual' });
    const text = await answer.text();
    answers.push({ method, status: answer.status, location: answer.headers.get('location'), body: text.startsWith('{') ? JSON.parse(text) : text });
  }
  console.log(JSON.stringify(answers));
})();
`;
const METHODS = ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT'];

/** Prints the addresses from getaddrinfo, which programs use, unlike dig and nslookup. */
const RESOLVE = `
#include <arpa/inet.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv) {
  struct addrinfo hints, *list, *at;
  char text[INET6_ADDRSTRLEN];
  memset(&hints, 0, sizeof hints);
  hints.ai_socktype = SOCK_STREAM;
  int failure = getaddrinfo(argv[1], NULL, &hints, &list);
  if (failure) return puts(gai_strerror(failure)), 1;
  for (at = list; at; at = at->ai_next)
    if (at->ai_family == AF_INET) puts(inet_ntop(AF_INET, &((struct sockaddr_in *)at->ai_addr)->sin_addr, text, sizeof text));
  return 0;
}
`;
const COMPILERS = [
  { libc: 'glibc', compiler: 'gcc', options: [] },
  { libc: 'musl', compiler: 'musl-gcc', options: ['-static'] },
].map((entry) => ({ ...entry, isMissing: spawnSync(entry.compiler, ['--version']).status !== 0 }));
for (const { libc, compiler, isMissing } of COMPILERS) {
  if (isMissing) console.info(`names are not resolved by ${libc}: ${compiler} is not installed (Debian: musl-tools, gcc)`);
}

/** A pod with the machine's libraries that resolves names by the program in `directory`. */
const RESOLVER_POD = (name: string, directory: string) => `
apiVersion: v1
kind: Pod
metadata: { name: ${name} }
spec:
  terminationGracePeriodSeconds: 1
  containers:
  - name: resolver
    image: busybox:1
    command: [sleep, '100000']
    volumeMounts:
    - { name: program, mountPath: /program, readOnly: true }
    - { name: usr, mountPath: /usr, readOnly: true }
    - { name: lib, mountPath: /lib, readOnly: true }
    - { name: lib64, mountPath: /lib64, readOnly: true }
  volumes:
  - { name: program, hostPath: { path: ${directory}, type: Directory } }
  - { name: usr, hostPath: { path: /usr } }
  - { name: lib, hostPath: { path: /lib } }
  - { name: lib64, hostPath: { path: /lib64 } }
`;

/** Keeps one connection open and opens new ones continually; prints the outcome when its input ends. */
const TRAFFIC = `
const net = require('net');
const [host, echoPort, httpPort] = process.argv.slice(1);
const seen = { echoes: 0, answers: 0, failures: [], isOpen: true };
const kept = net.connect(+echoPort, host, () => console.log('open'));
kept.on('data', () => seen.echoes++);
kept.on('error', (error) => { seen.failures.push('kept: ' + error.code); console.log(error.code); });
kept.on('close', () => { seen.isOpen = false; });
const again = setInterval(() => {
  kept.write('x');
  fetch('http://' + host + ':' + httpPort + '/', { headers: { connection: 'close' } })
    .then((answer) => answer.text())
    .then((text) => text.trim() === 'from the pod' ? seen.answers++ : seen.failures.push(text))
    .catch((error) => seen.failures.push(String(error.cause?.code ?? error)));
}, 50);
process.stdin.on('end', () => { clearInterval(again); setTimeout(() => { console.log(JSON.stringify(seen)); process.exit(0); }, 500); });
process.stdin.resume();
`;

interface Traffic {
  readonly echoes: number;
  readonly answers: number;
  readonly failures: readonly string[];
  readonly isOpen: boolean;
}

describe.skipIf(reason !== undefined)('the network of a real node', () => {
  let node: RealNode;
  let service = '';
  beforeAll(async () => {
    node = await RealNode.start('--node-name', 'machine');
    await node.apply(MANIFEST);
    await node.kubectl('wait', '--for=condition=Ready', 'pod/web', 'pod/client', '--timeout=25s');
    service = await node.kubectl('get', 'service', 'web', '-o', 'jsonpath={.spec.clusterIP}');
  });
  afterAll(async () => {
    await node?.[Symbol.asyncDispose]();
  });

  const FETCH = 'fetch(process.argv[1]).then((a) => a.text()).then((t) => console.log(t), (e) => console.log(String(e.cause?.code ?? e)))';
  const read = async (url: string) => (await node.run(process.execPath, ['-e', FETCH, url])).stdout.trim();
  const inClient = async (...command: readonly string[]) => {
    const { stdout, stderr } = await node.run('kubectl', ['exec', 'client', '--', ...command]);
    return (stdout || stderr).trim();
  };

  test('the API server passes requests on to services and pods, by name and port', async () => {
    const root = '/api/v1/namespaces/default';
    for (const path of [
      'services/web:http/proxy/',
      'services/http:web:80/proxy/',
      'pods/web:8080/proxy/',
      'pods/http:web:8080/proxy/index.html',
    ])
      await expect.poll(() => node.kubectl('get', '--raw', `${root}/${path}`).catch(String), POLL).toBe('from the pod');
  });

  test('kubectl port-forward to a service reaches its pod', async () => {
    const forward = spawn('nsenter', [...node.enter, 'kubectl', 'port-forward', 'svc/web', '18080:80'], {
      env: node.at.env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      await once(forward.stdout, 'data');
      expect(await read('http://127.0.0.1:18080/')).toBe('from the pod');
    } finally {
      const closed = once(forward, 'close');
      forward.kill('SIGKILL');
      await closed;
    }
  });

  test('kubectl proxy and the API server pass every method on to pods and services, with and without a path', async () => {
    await node.apply(CONFORMANCE_MANIFEST);
    await node.kubectl('wait', '--for=condition=Ready', 'pod/echo', 'pod/named', '--timeout=60s');
    const proxy = spawn('nsenter', [...node.enter, 'kubectl', 'proxy', '--port=18001'], {
      env: node.at.env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      await once(proxy.stdout, 'data');
      const root = 'http://127.0.0.1:18001/api/v1/namespaces/default';
      const ask = async (of: (target: string, method: string) => string) => {
        const requests = ['pods/echo', 'services/echo'].flatMap((target) =>
          METHODS.map((method) => ({ method, url: `${root}/${target}/proxy${of(target, method)}` })),
        );
        const { stdout, stderr } = await node.run(process.execPath, ['-e', REQUESTS, JSON.stringify(requests)]);
        return stdout === ''
          ? stderr
          : (JSON.parse(stdout) as { method: string; status: number; body: unknown; location: string | null }[]);
      };
      const twice = <T>(list: readonly T[]) => [...list, ...list];
      const path = (method: string) => `/some/path/with/${method}`;
      const answered = (method: string, at: string) => ({
        method,
        status: 200,
        location: null,
        body: method === 'HEAD' ? '' : { method, path: at },
      });
      await expect
        .poll(() => ask((_, method) => path(method)), POLL)
        .toEqual(twice(METHODS.map((method) => answered(method, path(method)))));
      // Relative links only work below a path that ends with a slash.
      const rooted = ['pods/echo', 'services/echo'].flatMap((target) =>
        METHODS.map((method) => {
          const location = `/api/v1/namespaces/default/${target}/proxy/?method=${method}`;
          return method === 'GET' || method === 'HEAD'
            ? expect.objectContaining({ method, status: 301, location: expect.stringContaining(location) })
            : answered(method, `/?method=${method}`);
        }),
      );
      expect(await ask((_, method) => `?method=${method}`)).toEqual(rooted);
    } finally {
      const closed = once(proxy, 'close');
      proxy.kill('SIGKILL');
      await closed;
    }
  });

  test('pods find each other by hostname and subdomain, and themselves by their own names', async () => {
    const address = await node.kubectl('get', 'pod', 'named', '-o', 'jsonpath={.status.podIP}');
    for (const name of ['querier.peers.default.svc.cluster.local', 'peers.default.svc.cluster.local'])
      await expect.poll(() => inClient('nslookup', '-type=a', name), POLL).toContain(address);
    const inNamed = async (...command: readonly string[]) => (await node.run('kubectl', ['exec', 'named', '--', ...command])).stdout.trim();
    expect(await inNamed('hostname', '-f')).toBe('querier.peers.default.svc.cluster.local');
    expect(await inNamed('cat', '/etc/hosts')).toContain(`${address}\tquerier.peers.default.svc.cluster.local\tquerier`);
  });

  test('a service changes between ExternalName, ClusterIP and NodePort: name, address and node port follow', async () => {
    const name = 'changing.default.svc.cluster.local';
    const apply = (spec: string) => node.apply(`apiVersion: v1\nkind: Service\nmetadata: { name: changing }\nspec: ${spec}\n`);
    const external = (target: string) => apply(`{ type: ExternalName, externalName: ${target} }`);
    const field = (path: string) => node.kubectl('get', 'service', 'changing', '-o', `jsonpath={${path}}`);
    /** Resolves first, then connects: the pod's wget cannot do both. */
    const byName = async (port: number) => {
      const address = /Address: ([\d.]+)\s*$/.exec(await inClient('nslookup', '-type=a', name))?.[1];
      return address === undefined ? 'unknown' : inClient('wget', '-qO-', `http://${address}:${port}/`);
    };
    for (const target of ['foo.example.com', 'bar.example.com']) {
      await external(target);
      await expect.poll(() => inClient('nslookup', '-type=cname', name), POLL).toContain(`canonical name = ${target}`);
    }
    expect(await field('.spec.clusterIP')).toBe('');

    await apply(`{ type: ClusterIP, selector: { app: web }, ports: [{ port: 8000, targetPort: 8080 }] }`);
    const clusterIp = await field('.spec.clusterIP');
    await expect.poll(() => inClient('nslookup', '-type=a', name), POLL).toContain(clusterIp);
    await expect.poll(() => inClient('wget', '-qO-', `http://${clusterIp}:8000/`), POLL).toBe('from the pod');
    await expect.poll(() => byName(8000), POLL).toBe('from the pod');

    // An alias of another service: the response includes its records.
    const patch = (spec: object) => node.kubectl('patch', 'service', 'changing', '--type=merge', '-p', JSON.stringify({ spec }));
    const none = Object.fromEntries(
      ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy', 'ports', 'selector'].map((key) => [key, null]),
    );
    const leave = () => patch({ ...none, type: 'ExternalName', externalName: 'web.default.svc.cluster.local' });
    await leave();
    expect(await field('.spec.clusterIP')).toBe('');
    await expect.poll(() => inClient('nslookup', '-type=a', name), POLL).toContain(service);
    await expect.poll(() => byName(80), POLL).toBe('from the pod');
    await expect.poll(() => read(`http://${clusterIp}:8000/`), POLL).not.toBe('from the pod');

    await patch({ type: 'NodePort', externalName: null, selector: { app: 'web' }, ports: [{ port: 8000, targetPort: 8080 }] });
    const nodePort = await field('.spec.ports[0].nodePort');
    for (const ask of [() => read(`http://198.51.100.2:${nodePort}/`), () => byName(8000)])
      await expect.poll(ask, POLL).toBe('from the pod');
    await leave();
    expect(await field('.spec.ports')).toBe('');
    await expect.poll(() => read(`http://198.51.100.2:${nodePort}/`), POLL).toBe('ECONNREFUSED');
    await expect.poll(() => inClient('nslookup', '-type=a', name), POLL).toContain(service);
  });

  test('a load balancer has the address of the node, and answers there', async () => {
    const address = () => node.kubectl('get', 'service', 'web', '-o', 'jsonpath={.status.loadBalancer.ingress[0].ip}');
    await expect.poll(address, POLL).toBe('198.51.100.2');
    await expect.poll(() => read('http://198.51.100.2/'), POLL).toBe('from the pod');
  });

  test('a pod has the search path of its namespace, and reaches a service by its address', async () => {
    expect(await inClient('cat', '/etc/resolv.conf')).toBe(
      'search default.svc.cluster.local svc.cluster.local cluster.local\nnameserver 10.96.0.10\noptions ndots:5',
    );
    await expect.poll(() => inClient('nslookup', '-type=a', 'web.default.svc.cluster.local'), POLL).toContain(service);
    await expect.poll(() => inClient('wget', '-qO-', `http://${service}/`), POLL).toBe('from the pod');
  });

  for (const { libc, compiler, options, isMissing } of COMPILERS) {
    test.skipIf(isMissing)(`programs of ${libc} find services by their short, longer and full names`, async () => {
      const directory = node.at.path(`resolve-${libc}`);
      mkdirSync(directory);
      await writeFile(`${directory}/resolve.c`, RESOLVE);
      const compiled = await node.run(compiler, [...options, '-o', `${directory}/resolve`, `${directory}/resolve.c`]);
      expect(compiled).toMatchObject({ code: 0 });
      const pod = `resolver-${libc}`;
      await node.apply(RESOLVER_POD(pod, directory));
      await node.kubectl('wait', '--for=condition=Ready', `pod/${pod}`, '--timeout=60s');
      const resolve = async (name: string) => (await node.run('kubectl', ['exec', pod, '--', '/program/resolve', name])).stdout.trim();
      for (const name of ['web', 'web.default', 'web.default.svc', 'web.default.svc.cluster.local', 'web.default.svc.cluster.local.'])
        await expect.poll(() => resolve(name), POLL).toBe(service);
      expect(await resolve('no-such-service.default.svc.cluster.local.')).toMatch(/not known|does not resolve/);
    });
  }

  test('traffic to a pod is shaped as it is annotated', async () => {
    expect((await node.run('tc', ['qdisc', 'show'])).stdout).toMatch(/tbf .* rate 10Mbit/);
  });

  test('names of the cluster are answered to the machine itself too', async () => {
    const dig = async () =>
      (await node.run('dig', ['@10.96.0.10', '+short', '+tries=1', '+time=2', 'web.default.svc.cluster.local'])).stdout.trim();
    await expect.poll(dig, POLL).toBe(service);
  });

  test('kill -9 of network agent, proxy and DNS under traffic breaks no connection, old or new', async () => {
    const traffic = spawn('nsenter', [...node.enter, process.execPath, '-e', TRAFFIC, service, '7', '80'], {
      stdio: ['pipe', 'pipe', 'inherit'],
    }) as ChildProcess;
    try {
      const [output] = (await once(traffic.stdout!, 'data')) as [Buffer];
      expect(output.toString().trim()).toBe('open');
      for (let round = 0; round < 2; round++) {
        process.kill(await node.pid(), 'SIGKILL');
        // Opens connections while no endpoint is ready.
        expect(await read(`http://${service}/`)).toBe('from the pod');
        await node.up('--node-name', 'machine');
        await expect.poll(() => inClient('nslookup', '-type=a', 'web.default.svc.cluster.local'), POLL).toContain(service);
      }
      const report = once(traffic.stdout!, 'data');
      traffic.stdin!.end();
      const seen = JSON.parse(String(((await report) as [Buffer])[0])) as Traffic;
      expect(seen).toMatchObject({ failures: [], isOpen: true });
      expect(Math.min(seen.echoes, seen.answers)).toBeGreaterThan(20);
    } finally {
      const closed = traffic.exitCode === null ? once(traffic, 'close') : undefined;
      traffic.kill('SIGKILL');
      await closed;
    }
  }, 120_000);
});
