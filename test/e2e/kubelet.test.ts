import { expect, test } from 'vitest';
import { whyNoContainers } from './real-node.ts';
import { ADDRESS, NODE, StandaloneKubelet } from './standalone-kubelet.ts';

const reason = whyNoContainers();

test.skipIf(reason !== undefined)(
  `a kubelet alone gets its certificates from the cluster and serves logs and exec over TLS${reason ? ` (skipped: ${reason})` : ''}`,
  async () => {
    await using node = await StandaloneKubelet.open();
    await node.allowBootstrap();
    node.start({ serverTLSBootstrap: true, rotateCertificates: true, kubeReserved: { memory: '64Mi' }, hairpinMode: 'none' });
    await node.waitReady();
    // As upstream, serving certificates are never approved automatically.
    const servingRequest = async () => {
      const list = await node.kubectl('get', 'csr', '-o', 'jsonpath={range .items[*]}{.spec.signerName} {.metadata.name}{"\\n"}{end}');
      return list
        .split('\n')
        .find((line) => line.startsWith('kubernetes.io/kubelet-serving '))
        ?.split(' ')[1];
    };
    await expect.poll(servingRequest, { timeout: 20_000 }).toBeDefined();
    await node.kubectl('certificate', 'approve', (await servingRequest())!);

    await node.kubectl('run', 'p', '--image=busybox:1', '--restart=Never', '--', 'sh', '-c', 'echo hello; exec sleep 1000');
    await node.kubectl('wait', '--for=condition=Ready', 'pod/p', '--timeout=20s');
    await expect.poll(() => node.kubectl('logs', 'p').catch((error: Error) => error.message), { timeout: 20_000 }).toBe('hello');
    expect(await node.kubectl('exec', 'p', '--', 'echo', 'from inside')).toBe('from inside');

    // The API server trusts only certificates signed by the cluster, and the kubelet rejects unknown callers.
    const url = `https://${ADDRESS}:10250`;
    const curl = (...args: string[]) => node.run('curl', ['-s', '--cacert', 'ca.crt', '-w', '%{http_code}', ...args]);
    expect((await curl(`${url}/pods`)).stdout).toBe('Unauthorized401');
    const pem = node.at.path('kubelet/pki/kubelet-client-current.pem');
    const asNode = await curl('--cert', pem, '--key', pem, `${url}/pods`);
    expect(asNode.stdout).toContain('Forbidden (user=system:node:worker, verb=get, resource=nodes, subresource(s)=[pods proxy])');
    const configz = JSON.parse(await node.kubectl('get', '--raw', `/api/v1/nodes/${NODE}/proxy/configz`)) as {
      kubeletconfig: { kubeReserved: object; maxPods: number };
    };
    expect(configz.kubeletconfig).toMatchObject({ kubeReserved: { memory: '64Mi' }, maxPods: 110 });
    expect(node.at.log('kubelet')).toContain('hairpinMode has no effect here');
  },
  150_000,
);

test.skipIf(reason !== undefined)(
  'a kubelet refuses a configuration that is wrong, with upstream’s words',
  async () => {
    await using node = await StandaloneKubelet.open();
    const { code, stderr } = await node.sampan('kubelet', '--kubeconfig', 'none', '--port', '99999', '--max-pods=-2');
    expect(code).not.toBe(0);
    expect(stderr).toContain('invalid configuration: port (--port) 99999 must be between 1 and 65535, inclusive');
    expect(stderr).toContain('invalid configuration: maxPods (--max-pods) -2 must not be a negative number');
  },
  60_000,
);
