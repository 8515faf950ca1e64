#!/usr/bin/env node
// What a real kubelet (v1.36, containerd) makes of pods, by example.
//
//   node node-oracle.mjs check  --kubeconfig FILE [--node NAME] [--only REGEX] [--jobs 6] [--json FILE] [--verbose] golden/*.json
//   node node-oracle.mjs record --kubeconfig FILE [--only REGEX] [--jobs 6] --out FILE scenarios.mjs     (against a real cluster)
//
// A scenario runs in a namespace of its own. Its steps:
//   { apply: OBJECT }                               creates the object (metadata.namespace is filled in)
//   { patch: 'pod/p', type: 'merge', body, subresource }  patches it
//   { delete: 'pod/p', gracePeriodSeconds }         deletes it, without waiting
//   { until: 'pod/p', test: [[PATH, OP, VALUE], …], timeout }   waits; OP: == != >= <= exists absent matches
//   { gone: 'pod/p', timeout }                      waits until it is gone
//   { sleep: SECONDS }
//   { get: 'pod/p', pick: [PATH, …] }               compares these parts of the object
//   { events: 'p', only: REGEX }                    compares the events of that object: type, reason, message, component, fieldPath
//   { kubectl: [ARGS…], stdin, stdout: false }      compares exit code, standard output and error of kubectl
// `expect` holds what the real cluster answered, after normalisation: times, uids, ids, addresses, node and namespace names are placeholders.
// `normalize: [[REGEX, TEXT], …]` of a scenario is applied to every answer. Conditions are compared in the order of their types.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import https from 'node:https';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const [mode, ...rest] = process.argv.slice(2);
const flags = { jobs: '6' };
const files = [];
for (let i = 0; i < rest.length; i++) {
  if (rest[i] === '--verbose') flags.verbose = true;
  else if (rest[i].startsWith('--')) flags[rest[i].slice(2)] = rest[++i];
  else files.push(rest[i]);
}
if (!['check', 'record'].includes(mode) || !flags.kubeconfig || files.length === 0) {
  console.error('usage: node-oracle.mjs check|record --kubeconfig FILE [--only REGEX] [--jobs N] [--json FILE | --out FILE] [--verbose] FILE…');
  process.exit(2);
}

const run = (command, args, { stdin, timeoutMs = 60_000 } = {}) => new Promise((resolve) => {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'] });
  let stdout = '', stderr = '';
  const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
  child.stdout.on('data', (data) => { stdout += data; });
  child.stderr.on('data', (data) => { stderr += data; });
  child.on('error', (error) => { clearTimeout(timer); resolve({ code: -1, stdout, stderr: String(error) }); });
  child.on('close', (code) => { clearTimeout(timer); resolve({ code, stdout, stderr }); });
  child.stdin.on('error', () => {});
  child.stdin.end(stdin ?? '');
});
const kubectl = (args, options) => run('kubectl', ['--kubeconfig', flags.kubeconfig, ...args], options);

const view = JSON.parse((await kubectl(['config', 'view', '--raw', '--minify', '--flatten', '-o', 'json'])).stdout);
const { cluster } = view.clusters[0];
const { user } = view.users[0];
const base64 = (text) => text && Buffer.from(text, 'base64');
const agent = new https.Agent({ keepAlive: true, maxSockets: 32, ca: base64(cluster['certificate-authority-data']), rejectUnauthorized: !cluster['insecure-skip-tls-verify'],
  cert: base64(user['client-certificate-data']), key: base64(user['client-key-data']) });
const server = new URL(cluster.server);
const api = (method, url, body, contentType = 'application/json') => new Promise((resolve, reject) => {
  const payload = body && Buffer.from(JSON.stringify(body));
  const request = https.request({ agent, method, hostname: server.hostname, port: server.port, path: url,
    headers: { ...(user.token && { authorization: `Bearer ${user.token}` }), ...(payload && { 'content-type': contentType, 'content-length': payload.length }) } }, (response) => {
    let text = '';
    response.on('data', (data) => { text += data; });
    response.on('end', () => { try { resolve({ status: response.statusCode, body: JSON.parse(text) }); } catch { resolve({ status: response.statusCode, body: { message: text } }); } });
  });
  request.on('error', reject);
  request.end(payload);
});

const PLACES = { pod: ['/api/v1', 'pods'], configmap: ['/api/v1', 'configmaps'], secret: ['/api/v1', 'secrets'], service: ['/api/v1', 'services'], serviceaccount: ['/api/v1', 'serviceaccounts'],
  persistentvolumeclaim: ['/api/v1', 'persistentvolumeclaims'], endpoints: ['/api/v1', 'endpoints'], resourcequota: ['/api/v1', 'resourcequotas'],
  job: ['/apis/batch/v1', 'jobs'], deployment: ['/apis/apps/v1', 'deployments'], daemonset: ['/apis/apps/v1', 'daemonsets'], statefulset: ['/apis/apps/v1', 'statefulsets'], lease: ['/apis/coordination.k8s.io/v1', 'leases'] };
const place = (ns, kind, name = '', subresource = '') => {
  const place = PLACES[kind.toLowerCase()];
  if (!place) throw new Error(`unknown kind ${kind}`);
  return [`${place[0]}/namespaces/${ns}/${place[1]}`, name, subresource].filter(Boolean).join('/');
};
const at = (object, dotted) => dotted.split('.').reduce((value, key) => {
  if (value === undefined || value === null) return undefined;
  const match = /^(\w+)\[(.+)]$/.exec(key);
  return match ? value[match[1]]?.find((item) => item.name === match[2] || item.type === match[2]) : value[key];
}, object);
const holds = (object, [dotted, op, expected]) => {
  const value = at(object, dotted);
  switch (op) {
    case '==': return value === expected;
    case '!=': return value !== expected;
    case '>=': return value >= expected;
    case '<=': return value <= expected;
    case 'exists': return value !== undefined;
    case 'absent': return value === undefined;
    case 'matches': return typeof value === 'string' && new RegExp(expected).test(value);
    default: throw new Error(`unknown operator ${op}`);
  }
};
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

class Names {
  constructor(ns) { this.pairs = new Map([[ns, '<ns>']]); }
  learn(object) {
    const add = (value, name) => { if (value && value !== 'None' && !this.pairs.has(value)) this.pairs.set(value, name); };
    add(object?.metadata?.uid, `<uid:${object?.kind ?? ''}/${object?.metadata?.name ?? ''}>`);
    if (object?.kind === 'Service') add(object.spec?.clusterIP, `<clusterIP:${object.metadata.name}>`);
    if (object?.kind !== 'Pod') return;
    const { status = {}, spec = {} } = object;
    for (const ip of status.hostIPs ?? []) add(ip.ip, '<hostIP>');
    for (const ip of status.podIPs ?? []) add(ip.ip, `<podIP:${object.metadata.name}>`);
    if (spec.nodeName && spec.nodeName.length > 2) add(spec.nodeName, '<node>');
    for (const s of [...(status.containerStatuses ?? []), ...(status.initContainerStatuses ?? []), ...(status.ephemeralContainerStatuses ?? [])]) add(s.imageID, '<imageID>');
  }
  text(text, extra) {
    let out = text.replace(/kube-api-access-[a-z0-9]{5}/g, 'kube-api-access-<rand>').replace(/\b[a-z][a-z0-9.-]{0,30}:\/\/[0-9a-f]{64}/g, '<containerID>');
    for (const [value, name] of [...this.pairs].sort((a, b) => b[0].length - a[0].length)) out = out.replaceAll(value, name);
    out = out.replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)/g, '<time>').replace(/[0-9a-f]{64}/g, '<hex>').replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<uuid>');
    for (const [pattern, replacement] of extra ?? []) out = out.replace(new RegExp(pattern, 'g'), replacement);
    return out;
  }
  value(value, extra) {
    if (typeof value === 'string') return this.text(value, extra);
    if (Array.isArray(value)) {
      const items = value.map((item) => this.value(item, extra));
      const key = items.every((item) => item && typeof item === 'object' && typeof item.type === 'string') ? 'type' : undefined;
      return key ? items.sort((a, b) => (a[key] < b[key] ? -1 : 1)) : items;
    }
    if (value && typeof value === 'object') return Object.fromEntries(Object.keys(value).sort().map((key) => [key, this.value(value[key], extra)]));
    return value ?? null;
  }
}

// Scenarios that name their node say node-1; here it is the first real one, or the one that --node names.
const nodes = (await api('GET', '/api/v1/nodes')).body.items ?? [];
const nodeName = flags.node ?? (nodes.find((node) => !/simulated/.test(node.status?.nodeInfo?.containerRuntimeVersion ?? '')) ?? nodes[0])?.metadata.name;

async function perform(step, ns, names, extra) {
  if (step.apply) {
    const object = structuredClone(step.apply);
    object.metadata.namespace = ns;
    if (object.spec?.nodeName === 'node-1') object.spec.nodeName = nodeName;
    const { status, body } = await api('POST', place(ns, object.kind), object);
    if (status >= 300 && !step.refused) throw new Error(`create ${object.kind} ${object.metadata.name}: ${status} ${body.message}`);
    if (step.refused) return names.value({ code: status, message: body.message ?? null }, extra);
    names.learn(body);
  } else if (step.patch) {
    const [kind, name] = step.patch.split('/');
    const type = { merge: 'application/merge-patch+json', strategic: 'application/strategic-merge-patch+json', json: 'application/json-patch+json' }[step.type ?? 'strategic'];
    const { status, body } = await api('PATCH', place(ns, kind, name, step.subresource), step.body, type);
    if (status >= 300) throw new Error(`patch ${step.patch}: ${status} ${body.message}`);
  } else if (step.delete) {
    const [kind, name] = step.delete.split('/');
    await api('DELETE', place(ns, kind, name), step.gracePeriodSeconds === undefined ? undefined : { gracePeriodSeconds: step.gracePeriodSeconds });
  } else if (step.until || step.gone) {
    const [kind, name] = (step.until ?? step.gone).split('/');
    const end = Date.now() + (step.timeout ?? 60) * 1000;
    for (;;) {
      const { status, body } = await api('GET', place(ns, kind, name));
      if (status === 200) names.learn(body);
      if (step.gone ? status === 404 : status === 200 && step.test.every((test) => holds(body, test))) return undefined;
      if (Date.now() > end) throw new Error(`time-out waiting for ${step.gone ? `${step.gone} to go` : JSON.stringify(step.test)}; status: ${names.text(JSON.stringify(body.status ?? body), extra).slice(0, 1500)}`);
      await sleep(250);
    }
  } else if (step.sleep) {
    await sleep(step.sleep * 1000);
  } else if (step.get) {
    const [kind, name] = step.get.split('/');
    const { body } = await api('GET', place(ns, kind, name));
    body.kind ??= kind;
    names.learn(body);
    // What a cgroup without a limit says on machines with cgroup v1; not a fact about pods.
    if (body.status?.resources?.limits?.memory === '9007199254740988Ki') delete body.status.resources;
    return names.value(Object.fromEntries(step.pick.map((dotted) => [dotted, at(body, dotted) ?? null])), extra);
  } else if (step.events) {
    const { body } = await api('GET', `/api/v1/namespaces/${ns}/events?fieldSelector=${encodeURIComponent(`involvedObject.name=${step.events}`)}`);
    const events = new Map();
    for (const event of body.items) {
      if (step.only && !new RegExp(step.only).test(event.reason)) continue;
      const eventFields = names.value({ type: event.type, reason: event.reason, message: event.message ?? '', component: event.source?.component || event.reportingComponent || '', fieldPath: event.involvedObject.fieldPath ?? '' }, extra);
      events.set(JSON.stringify(eventFields), eventFields);
    }
    return [...events.keys()].sort().map((key) => events.get(key));
  } else if (step.kubectl) {
    const ask = () => kubectl(['-n', ns, ...step.kubectl], { stdin: step.stdin, timeoutMs: (step.timeout ?? 30) * 1000 });
    let { code, stdout, stderr } = await ask();
    // A container that has just become ready may not have written all of its lines yet.
    const isShort = () => step.kubectl[0] === 'logs' && code === 0 && step.expect?.stdout?.length > stdout.length && step.expect.stdout.startsWith(stdout);
    for (let i = 0; i < 50 && isShort(); i++) {
      await sleep(200);
      ({ code, stdout, stderr } = await ask());
    }
    return names.value({ code, ...(step.stdout !== false && { stdout }), ...(step.stderr !== false && { stderr }) }, extra);
  } else throw new Error(`unknown step ${JSON.stringify(step)}`);
  return undefined;
}

function differences(expected, actual, where = '') {
  if (expected && actual && typeof expected === 'object' && typeof actual === 'object' && Array.isArray(expected) === Array.isArray(actual)) {
    if (Array.isArray(expected) && expected.length !== actual.length) return [`${where}: ${expected.length} items expected, got ${actual.length}: ${JSON.stringify(expected).slice(0, 600)} vs ${JSON.stringify(actual).slice(0, 600)}`];
    return [...new Set([...Object.keys(expected), ...Object.keys(actual)])].flatMap((key) => differences(expected[key], actual[key], `${where}/${key}`));
  }
  return JSON.stringify(expected) === JSON.stringify(actual) ? [] : [`${where}: expected ${JSON.stringify(expected)?.slice(0, 500)}, got ${JSON.stringify(actual)?.slice(0, 500)}`];
}

let counter = 0;
async function runScenario(suite, scenario) {
  const ns = `node-oracle-${process.pid}-${++counter}`;
  const names = new Names(ns);
  const answers = [];
  const failures = [];
  await api('POST', '/api/v1/namespaces', { metadata: { name: ns, labels: { 'pod-security.kubernetes.io/enforce': 'privileged' } } });
  for (let i = 0; i < 100 && (await api('GET', `/api/v1/namespaces/${ns}/serviceaccounts/default`)).status !== 200; i++) await sleep(100);
  for (let i = 0; i < 100 && (await api('GET', `/api/v1/namespaces/${ns}/configmaps/kube-root-ca.crt`)).status !== 200; i++) await sleep(100);
  try {
    for (const [index, step] of scenario.steps.entries()) {
      const answer = await perform(step, ns, names, scenario.normalize);
      if (answer === undefined) continue;
      answers.push({ index, answer });
      if (mode === 'check') {
        const diffs = differences(step.expect, answer);
        if (diffs.length > 0) failures.push({ step: index, what: JSON.stringify(step.get ?? step.events ?? step.kubectl ?? step.apply?.kind), diffs });
      }
    }
  } catch (error) {
    failures.push({ step: -1, what: 'steps', diffs: [String(error.message)] });
  }
  await api('DELETE', `/api/v1/namespaces/${ns}/pods?gracePeriodSeconds=0`, { gracePeriodSeconds: 0 }).catch(() => {});
  await api('DELETE', `/api/v1/namespaces/${ns}`).catch(() => {});
  return { suite, scenario: scenario.name, answers, failures };
}

const suites = [];
for (const file of files) {
  const absolute = path.resolve(file);
  const scenarios = file.endsWith('.mjs') ? (await import(pathToFileURL(absolute).href)).default : JSON.parse(fs.readFileSync(absolute, 'utf8'));
  suites.push({ suite: path.basename(file).replace(/\.(mjs|json)$/, ''), scenarios });
}
const only = flags.only && new RegExp(flags.only);
const work = suites.flatMap(({ suite, scenarios }) => scenarios.filter(({ name }) => !only || only.test(`${suite} / ${name}`)).map((scenario) => ({ suite, scenario })));
const results = [];
let next = 0;
await Promise.all(Array.from({ length: Number(flags.jobs) }, async () => {
  while (next < work.length) {
    const { suite, scenario } = work[next++];
    const result = await runScenario(suite, scenario);
    results.push({ ...result, source: scenario });
    if (result.failures.length > 0) {
      console.log(`FAIL ${suite} / ${scenario.name}`);
      for (const { step, what, diffs } of result.failures) for (const diff of diffs.slice(0, flags.verbose ? 50 : 4)) console.log(`     step ${step} ${what}: ${diff}`);
    } else if (flags.verbose) console.log(`ok   ${suite} / ${scenario.name}`);
  }
}));
if (mode === 'record') {
  const order = new Map(work.map(({ scenario }, i) => [scenario.name, i]));
  const golden = results.filter(({ failures }) => failures.length === 0).sort((a, b) => order.get(a.scenario) - order.get(b.scenario)).map(({ source, answers }) => {
    const recorded = structuredClone(source);
    for (const { index, answer } of answers) recorded.steps[index].expect = answer;
    return recorded;
  });
  fs.writeFileSync(flags.out, `[\n${golden.map((scenario) => JSON.stringify(scenario)).join(',\n')}\n]\n`);
  console.log(`recorded ${golden.length} of ${work.length} scenarios in ${flags.out}`);
}
if (flags.json) fs.writeFileSync(flags.json, JSON.stringify(results.map(({ source, answers, ...rest }) => rest), null, 1));
const failed = results.filter(({ failures }) => failures.length > 0).length;
console.log(`${results.length - failed} passed, ${failed} failed`);
agent.destroy();
process.exit(failed > 0 ? 1 : 0);
