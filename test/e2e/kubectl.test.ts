import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../../src/store/contract/free-port.ts';
import { ROOT } from '../house-rules/source-tree.ts';
import { type Outcome, Workplace } from './sampan-process.ts';

/** The installed kubectl, and an old one if available: `.ci/run` installs it. */
const OLD_KUBECTL = process.env.OLD_KUBECTL ?? '';
const KUBECTLS = [
  { version: 'this machine', program: 'kubectl', isOld: false },
  ...(existsSync(OLD_KUBECTL) ? [{ version: '1.20', program: OLD_KUBECTL, isOld: true }] : []),
];
const EVERY_KIND = path.join(ROOT, 'test/e2e/manifests/every-kind.yaml');

const SETTINGS = (value: string) =>
  JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings' }, data: { a: value } });

/** As Go encodes maps: sorted keys, HTML characters escaped. */
function goJson(value: unknown): string {
  const sorted = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(sorted);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([key, member]) => [key, sorted(member)]),
    );
  };
  return JSON.stringify(sorted(value)).replaceAll(/[<>&]/g, (char) => `\\u00${char.charCodeAt(0).toString(16)}`);
}

let at: Workplace;
beforeAll(async () => {
  at = new Workplace();
  const { code, stderr } = await at.sampan('up', '--runtime', 'simulated', '-d', '--port', String(await freePort()), '--nodes', '2');
  expect(code, stderr).toBe(0);
});

afterAll(async () => {
  await at.sampan('delete', '--yes');
  await at[Symbol.asyncDispose]();
});

describe.each(KUBECTLS)('kubectl of $version', ({ program, isOld }) => {
  const namespace = isOld ? 'old' : 'new';
  const run = (args: string, input?: string): Promise<Outcome> =>
    at.run(program, ['-n', namespace, ...(args.match(/'[^']*'|\S+/g) ?? []).map((word) => word.replace(/^'(.*)'$/s, '$1'))], input);
  /** Standard output of a command that must succeed. */
  const k = async (args: string, input?: string): Promise<string> => {
    const { code, stdout, stderr } = await run(args, input);
    expect(code, `kubectl ${args}: ${stderr}`).toBe(0);
    return stdout.trim();
  };
  /** Standard error of a command that must fail. */
  const refused = async (args: string, input?: string): Promise<string> => {
    const { code, stderr } = await run(args, input);
    expect(code, `kubectl ${args}`).not.toBe(0);
    return stderr.trim();
  };

  beforeAll(async () => {
    await k(`create namespace ${namespace}`);
    await k('create deployment web --image=web:1 --replicas=2');
    await k('rollout status deployment/web --timeout=20s');
  });

  test('learns what the server has', async () => {
    expect(await k('version')).toMatch(/v1\.36\./);
    expect(await k('api-resources --api-group=apps --no-headers -o name')).toContain('deployments.apps');
    expect((await k('api-resources --verbs=list -o name')).split('\n').length).toBeGreaterThan(50);
    expect(await k('api-versions')).toContain('resource.k8s.io/v1');
    expect(await k('explain pod.spec.containers.resources')).toMatch(/limits\s+<map\[string\]/);
    expect(await k('explain deployment --recursive')).toMatch(/revisionHistoryLimit\s+<integer>/);
    expect(await k('get --raw /readyz')).toBe('ok');
  });

  test('explains custom resources, with the fields that every object has', async () => {
    const names = { plural: 'gadgets', singular: 'gadget', kind: 'Gadget' };
    const openAPIV3Schema = { type: 'object', properties: { spec: { type: 'object', description: 'What the gadget does.' } } };
    const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }];
    const definition = {
      ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: 'gadgets.kubectl.example.com' } },
      spec: { group: 'kubectl.example.com', scope: 'Namespaced', names, versions },
    };
    await k('apply -f -', JSON.stringify(definition));
    await k('wait --for=condition=established crd/gadgets.kubectl.example.com --timeout=20s');
    const explain = async (path: string) => (await run(`explain ${path}`)).stdout.replaceAll(/\s+/g, ' ');
    await expect.poll(() => explain('gadgets')).toContain('What the gadget does.');
    expect(await explain('gadgets.apiVersion')).toContain('APIVersion defines');
    expect(await explain('gadgets.kind')).toContain('Kind is');
    await k('delete crd gadgets.kubectl.example.com');
  });

  test('shows objects in every form', async () => {
    expect(await k('get pods')).toMatch(/NAME\s+READY\s+STATUS\s+RESTARTS\s+AGE\nweb-\S+\s+1\/1\s+Running/);
    expect(await k('get deploy,rs,pods -o wide --show-labels')).toMatch(/CONTAINERS\s+IMAGES\s+SELECTOR\s+LABELS/);
    expect(await k('get all -o name')).toMatch(/^pod\/web-\S+\npod\/web-\S+\ndeployment.apps\/web\nreplicaset.apps\/web-\S+$/);
    expect(await k('get deploy web -o yaml')).toContain('image: web:1');
    expect(JSON.parse(await k('get pods -o json'))).toMatchObject({ kind: 'List', items: [{ kind: 'Pod' }, { kind: 'Pod' }] });
    expect(await k('get deploy web -o jsonpath={.status.readyReplicas}')).toBe('2');
    expect(await k('get pods --no-headers -o custom-columns=A:.metadata.labels.app,B:.status.phase')).toBe('web   Running\nweb   Running');
    expect((await k('get pods --chunk-size=1 -o name')).split('\n')).toHaveLength(2);
    expect(await k('get pods --field-selector=status.phase=Failed -o name')).toBe('');
    expect((await k("get pods -l 'app in (web)' --sort-by=.metadata.name -o name")).split('\n')).toHaveLength(2);
    expect(await k('get events --field-selector=reason=ScalingReplicaSet --no-headers')).toContain('deployment/web');
  });

  test('says what cannot be found or selected', async () => {
    expect(await refused('get pod nope')).toBe('Error from server (NotFound): pods "nope" not found');
    expect(await refused('get sails')).toBe('error: the server doesn\'t have a resource type "sails"');
    expect(await refused('get pods --field-selector=sails=3')).toContain('field label not supported: sails');
    expect(await refused('get --raw /nope')).toContain('(NotFound)');
    expect(await refused('top nodes')).toContain('Metrics API not available');
    expect(await refused('logs nope')).toContain('pods "nope" not found');
  });

  test('describes', async () => {
    expect(await k('describe deployment web')).toMatch(/NewReplicaSet:\s+web-\S+ \(2\/2 replicas created\)[\s\S]*ScalingReplicaSet/);
    expect(await k('describe pods -l app=web')).toMatch(/Status:\s+Running[\s\S]*Successfully assigned/);
    expect(await k('describe nodes node-1')).toMatch(/Ready\s+True[\s\S]*Allocated resources:/);
    expect(await k(`describe namespace ${namespace}`)).toMatch(/Status:\s+Active/);
  });

  test('watches', async () => {
    const watch = k('get configmaps -w --request-timeout=2s --no-headers -o name');
    await expect.poll(() => run('create configmap watched'), { interval: 100, timeout: 1500 }).toMatchObject({ code: 1 });
    await k('delete configmap watched');
    expect(await watch).toContain('configmap/watched');
  });

  test('applies, compares and shows who owns what', async () => {
    writeFileSync(at.path('settings.yaml'), SETTINGS('1'));
    expect(await k('apply -f settings.yaml')).toBe('configmap/settings created');
    expect(await k('apply -f settings.yaml')).toBe('configmap/settings unchanged');
    writeFileSync(at.path('settings.yaml'), SETTINGS('2'));
    const { code, stdout } = await run('diff -f settings.yaml');
    expect({ code, stdout }).toEqual({ code: 1, stdout: expect.stringMatching(/^-\s+a: "1"\n\+\s+a: "2"$/m) });
    expect(await k('apply -f settings.yaml --dry-run=server')).toBe('configmap/settings configured (server dry run)');
    expect(await k('get cm settings -o jsonpath={.data.a}')).toBe('1');
    expect(await k('apply -f settings.yaml')).toBe('configmap/settings configured');
    expect(await k('diff -f settings.yaml')).toBe('');
    expect(await k('apply view-last-applied configmap settings')).toContain('a: "2"');
    expect(await k('apply -f settings.yaml --server-side --field-manager=ship')).toBe('configmap/settings serverside-applied');
    writeFileSync(at.path('settings.yaml'), SETTINGS('3'));
    expect(await refused('apply -f settings.yaml --server-side --field-manager=pirate')).toMatch(/conflicts? with "ship":?/);
    await k('apply -f settings.yaml --server-side --field-manager=pirate --force-conflicts');
    expect(await k('get cm settings -o jsonpath={.metadata.managedFields[*].manager}')).toContain('pirate');
  });

  test('edits, patches, replaces, labels and annotates', async () => {
    const editor = at.path('editor.sh');
    writeFileSync(editor, '#!/bin/sh\nsed -i "s/a: \\"3\\"/a: \\"4\\"/" "$1"\n');
    chmodSync(editor, 0o755);
    expect((await at.run('env', [`EDITOR=${editor}`, program, '-n', namespace, 'edit', 'cm', 'settings'])).stdout).toContain(
      'configmap/settings edited',
    );
    expect(await k('get cm settings -o jsonpath={.data.a}')).toBe('4');
    await k(`patch cm settings -p '{"data":{"b":"1"}}'`);
    await k(`patch cm settings --type=merge -p '{"data":{"a":null}}'`);
    await k(`patch cm settings --type=json -p '[{"op":"add","path":"/data/c","value":"x"}]'`);
    expect(JSON.parse(await k('get cm settings -o jsonpath={.data}'))).toEqual({ b: '1', c: 'x' });
    expect(await refused(`patch cm settings --type=json -p '[{"op":"test","path":"/data/c","value":"y"}]'`)).toContain(
      'The request is invalid',
    );
    expect(await k('replace -f -', SETTINGS('5'))).toBe('configmap/settings replaced');
    expect(await k('replace --force -f settings.yaml')).toContain('configmap/settings replaced');
    expect(await k('label cm settings colour=blue')).toBe('configmap/settings labeled');
    expect(await refused('label cm settings colour=red')).toContain('--overwrite is false');
    expect(await refused("label cm settings 'no label=1'")).toContain('name part must consist of alphanumeric characters');
    expect(await k("annotate cm settings 'note=a note'")).toBe('configmap/settings annotated');
    expect(await refused('create -f settings.yaml')).toContain('configmaps "settings" already exists');
  });

  test('refuses what is wrong with an object, by field', async () => {
    const pod = (fields: object) => JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x' }, ...fields });
    expect(await refused('create -f -', pod({ spec: { containers: [] } }))).toBe('The Pod "x" is invalid: spec.containers: Required value');
    expect(await refused('create -f -', pod({ spexc: {} }))).toContain('unknown field "spexc"');
    expect(await refused('create -f -', pod({ apiVersion: 'v9' }))).toContain('no matches for kind "Pod" in version "v9"');
  });

  test('scales, autoscales, exposes, updates and rolls back', async () => {
    await k('scale deployment web --replicas=3');
    expect(await refused('scale deployment web --current-replicas=9 --replicas=1')).toContain('Expected replicas to be 9, was 3');
    await k('autoscale deployment web --min=1 --max=5 --cpu-percent=80');
    expect(await k('get hpa web --no-headers')).toMatch(/Deployment\/web\s+.*80%\s+1\s+5/);
    await k('expose deployment web --port=80 --target-port=8080');
    await expect.poll(() => k('get endpoints web --no-headers'), { timeout: 10_000 }).toMatch(/(10\.244\.\d+\.\d+:8080,?){3}/);
    await k('set image deployment/web web=web:2');
    await k('rollout status deployment/web --timeout=20s');
    expect(await k('rollout history deployment/web')).toMatch(/1\s+<none>\n2\s+<none>/);
    await k('rollout undo deployment/web');
    await k('rollout restart deployment/web');
    await k('rollout status deployment/web --timeout=20s');
    expect(await k('get deploy web -o jsonpath={.spec.template.spec.containers[0].image}')).toBe('web:1');
  });

  test.each(['DaemonSet', 'StatefulSet'])('reads a revision of a %s in the bytes that it compares to skip a rollback', async (kind) => {
    const args = ['a && b', '<in', '>out'];
    const spec = {
      selector: { matchLabels: { app: 'agent' } },
      template: { metadata: { labels: { z: '1', app: 'agent' } }, spec: { containers: [{ name: 'c', image: 'agent:1', args }] } },
      ...(kind === 'StatefulSet' && { serviceName: 's' }),
    };
    const resource = `${kind.toLowerCase()}s`;
    await k('create -f -', JSON.stringify({ apiVersion: 'apps/v1', kind, metadata: { name: 'agent' }, spec }));
    const read = (name: string) => k(`get --raw /apis/apps/v1/namespaces/${namespace}/${name}`);
    await expect.poll(() => read('controllerrevisions')).toContain('"data":');
    const { template } = JSON.parse(await read(`${resource}/agent`)).spec;
    expect(await read('controllerrevisions')).toContain(`"data":${goJson({ spec: { template: { ...template, $patch: 'replace' } } })},`);
    await k(`delete ${resource} agent --cascade=foreground`);
  });

  test('finds the endpoints of the kubernetes service of a server that listens on loopback', async () => {
    expect(await k('config view --minify -o jsonpath={.clusters[0].cluster.server}')).toContain('//127.0.0.1:');
    const port = new URL(await k('config view --minify -o jsonpath={.clusters[0].cluster.server}')).port;
    expect(await k('get endpoints kubernetes -n default --no-headers')).toMatch(new RegExp(`^kubernetes\\s+[0-9a-f.:[\\]]+:${port}\\s`));
    expect(await k('get endpointslices kubernetes -n default -o jsonpath={.endpoints[*].addresses[*]}')).not.toBe('');
  });

  test('runs a pod, waits for it and reads its log', async () => {
    expect(await k('run one --image=one:1 --dry-run=server -o name')).toBe('pod/one');
    await k('run one --image=one:1 --labels=a=b --port=80');
    expect(await k('wait --for=condition=Ready pod/one --timeout=20s')).toBe('pod/one condition met');
    expect(await k('logs one --tail=1')).toContain('simulated container one');
    expect(await refused('wait --for=condition=Ready pod/none --timeout=1s')).toContain('"none" not found');
    expect(await k('delete pod one --timeout=20s')).toContain('"one" deleted');
    expect(await k('get pods -l a=b -o name')).toBe('');
  });

  test('taints, cordons and drains a node', async () => {
    await k('taint nodes node-1 k=v:NoSchedule');
    expect(await refused('taint nodes node-1 k=v:NoSchedule')).toContain('already has k taint');
    await k('taint nodes node-1 k:NoSchedule-');
    await k('cordon node-1');
    expect(await k('get nodes node-1 --no-headers')).toContain('Ready,SchedulingDisabled');
    expect(await k('drain node-1 --ignore-daemonsets --force --timeout=20s')).toMatch(/node\/node-1 (drained|evicted)/);
    expect(await k('get pods --field-selector=spec.nodeName=node-1 -o name')).toBe('');
    await k('uncordon node-1');
  });

  test('grants rights and asks for them', async () => {
    const robot = `--as=system:serviceaccount:${namespace}:robot`;
    await k('create serviceaccount robot');
    await k('create role reader --verb=get,list --resource=pods,deployments.apps');
    await k(`create rolebinding reader --role=reader --serviceaccount=${namespace}:robot`);
    expect(await k(`auth can-i get pods ${robot}`)).toBe('yes');
    expect((await run(`auth can-i delete pods ${robot}`)).stdout.trim()).toBe('no');
    expect(await k(`auth can-i --list ${robot}`)).toMatch(/deployments\.apps\s+\[\]\s+\[\]\s+\[get list\]/);
    expect(await refused(`delete deployment web ${robot}`)).toContain(
      `User "system:serviceaccount:${namespace}:robot" cannot delete resource "deployments" in API group "apps" in the namespace "${namespace}"`,
    );
    expect(await k(`get pods ${robot} -o name`)).toContain('pod/web-');
    if (isOld) return;
    expect(await k('create token robot --duration=10m')).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
    expect(await refused('create token robot --duration=1m')).toContain('may not specify a duration less than 10 minutes');
    expect(await k('auth whoami')).toContain('system:masters');
  });

  test('approves and denies certificates', async () => {
    await at.run('openssl', ['req', '-new', '-newkey', 'rsa:2048', '-nodes', '-keyout', 'key', '-subj', '/O=crew/CN=bob', '-out', 'csr']);
    const request = readFileSync(at.path('csr')).toString('base64');
    const object = (name: string) =>
      JSON.stringify({
        apiVersion: 'certificates.k8s.io/v1',
        kind: 'CertificateSigningRequest',
        metadata: { name },
        spec: { request, signerName: 'kubernetes.io/kube-apiserver-client', usages: ['client auth'] },
      });
    const [yes, no] = [`yes-${namespace}`, `no-${namespace}`];
    await k('create -f -', object(yes));
    await k('create -f -', object(no));
    await k(`certificate approve ${yes}`);
    await k(`certificate deny ${no}`);
    await expect.poll(() => k(`get csr ${yes} --no-headers`), { timeout: 10_000 }).toContain('Approved,Issued');
    expect(await k(`get csr ${no} --no-headers`)).toContain('Denied');
    writeFileSync(at.path('certificate'), Buffer.from(await k(`get csr ${yes} -o jsonpath={.status.certificate}`), 'base64'));
    const { stdout } = await at.run('openssl', ['x509', '-in', 'certificate', '-noout', '-subject']);
    expect(stdout).toMatch(/O ?= ?crew, CN ?= ?bob/);
  });

  test('creates the objects it has commands for', async () => {
    await k('create secret generic secret --from-literal=p=q');
    await k('create quota quota --hard=pods=20');
    await expect.poll(() => k('describe quota quota'), { timeout: 10_000 }).toMatch(/pods\s+3\s+20/);
    await k('create job job --image=job:1');
    await k('wait --for=condition=Complete job/job --timeout=20s');
    await k('create ingress ingress --rule=a.b/x=web:80');
    expect(await k('describe ingress ingress')).toMatch(/\/x\s+web:80 \(10\.244\./);
    await k(`create priorityclass ${namespace} --value=5`);
    await k(`delete priorityclass ${namespace}`);
  });

  test('deletes with what belongs to an object, or without', async () => {
    await k('delete deployment web --cascade=orphan');
    expect(await k('get rs -l app=web -o jsonpath={.items[0].metadata.ownerReferences}')).toBe('');
    expect((await k('get pods -l app=web -o name')).split('\n')).toHaveLength(3);
    await k('delete rs -l app=web --cascade=foreground --timeout=20s');
    expect(await k('get pods -l app=web -o name')).toBe('');
    await k('delete all --all --timeout=20s');
    expect(await k('delete pod nope --ignore-not-found')).toBe('');
    expect(await refused('delete pod nope')).toContain('pods "nope" not found');
  });

  test('applies dozens of kinds at once; the second time nothing changes', async () => {
    const file = at.path(`${namespace}.yaml`);
    writeFileSync(file, readFileSync(EVERY_KIND, 'utf8').replaceAll('kinds', `kinds-${namespace}`));
    const withFile = async (command: string) => {
      const { code, stdout, stderr } = await at.run(program, [...command.split(' '), '-f', file]);
      expect(code, stderr).toBe(0);
      return stdout.trim().split('\n');
    };
    const generations = () => withFile('get -o jsonpath={.items[*].metadata.generation}');
    const without = (end: string, lines: readonly string[]) => lines.filter((line) => !line.endsWith(end));
    const created = await withFile('apply');
    expect(created.length).toBeGreaterThan(50);
    expect(without(' created', created)).toEqual([]);
    const before = await generations();
    // kubectl itself sends no-op patches for pods with volumes, and for lists whose merge keys it does not know.
    const others = isOld ? 'cronjob.batch/cron configured' : 'poddisruptionbudget.policy/web configured';
    expect(without(' unchanged', await withFile('apply'))).toEqual(['pod/pod configured', others]);
    expect(await generations()).toEqual(before);
    await withFile('apply --server-side');
    const versions = 'get -o custom-columns=N:.metadata.name,V:.metadata.managedFields[?(@.manager=="kubectl")].time';
    const applied = await withFile(versions);
    expect(without(' serverside-applied', await withFile('apply --server-side'))).toEqual([]);
    expect(await withFile(versions)).toEqual(applied);
    await at.run(program, ['delete', '--wait=false', '-f', file]);
  });
});
