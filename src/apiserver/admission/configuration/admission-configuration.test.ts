import { expect, test } from 'vitest';
import { readAdmissionConfiguration } from './admission-configuration.ts';

function read(text: string, files: Readonly<Record<string, string>> = {}) {
  const all = new Map(Object.entries({ '/etc/admission.yaml': text, ...files }));
  const readFile = (path: string) => all.get(path) ?? expect.unreachable(`no file ${path}`);
  return readAdmissionConfiguration({ path: '/etc/admission.yaml', read: readFile });
}

const plugin = (name: string, configuration: string) =>
  `{apiVersion: apiserver.config.k8s.io/v1, kind: AdmissionConfiguration, plugins: [{name: ${name}, configuration: ${configuration}}]}`;
const eventLimits = (limits: string) => `{apiVersion: eventratelimit.admission.k8s.io/v1alpha1, kind: Configuration, limits: ${limits}}`;
const tolerations = (fields: string) => `{apiVersion: podtolerationrestriction.admission.k8s.io/v1alpha1, kind: Configuration, ${fields}}`;
const podSecurity = (fields: string) => `{apiVersion: pod-security.admission.config.k8s.io/v1, kind: PodSecurityConfiguration, ${fields}}`;

test('an AdmissionConfiguration configures event limits', () => {
  const text = plugin('EventRateLimit', eventLimits('[{type: Namespace, qps: 5, burst: 10}]'));
  expect(read(text)).toEqual({ EventRateLimit: [{ type: 'Namespace', qps: 5, burst: 10, cacheSize: 0 }] });
});

test('the configuration of a plugin may be in a file beside', () => {
  const text = `{apiVersion: apiserver.config.k8s.io/v1, kind: AdmissionConfiguration, plugins: [{name: PodTolerationRestriction, path: more/t.yaml}]}`;
  const files = { '/etc/more/t.yaml': tolerations('default: [{key: spot, operator: Exists}]') };
  const PodTolerationRestriction = { default: [{ key: 'spot', operator: 'Exists' }], whitelist: [] };
  expect(read(text, files)).toEqual({ PodTolerationRestriction });
});

test('an image policy names a kubeconfig, and times in seconds and milliseconds', () => {
  const text = plugin('ImagePolicyWebhook', '{imagePolicy: {kubeConfigFile: k.yaml, allowTTL: 50, denyTTL: -1, retryBackoff: 700}}');
  const kubeconfig = { path: '/etc/k.yaml', text: 'clusters: []' };
  const policy = { kubeconfig, allowTtlMs: 50_000, denyTtlMs: 0, retryBackoffMs: 700, defaultAllow: false };
  expect(read(text, { '/etc/k.yaml': 'clusters: []' })).toEqual({ ImagePolicyWebhook: policy });
});

test('a file of node selectors without a kind is read, too', () => {
  const selectors = new Map([
    ['clusterDefaultNodeSelector', 'env=test'],
    ['dev', 'env=dev'],
  ]);
  expect(read('podNodeSelectorPluginConfig: {clusterDefaultNodeSelector: env=test, dev: env=dev}')).toEqual({ PodNodeSelector: selectors });
});

test('pod security has defaults and exemptions', () => {
  const fields = 'defaults: {enforce: baseline, enforce-version: v1.30}, exemptions: {namespaces: [kube-system]}';
  const privileged = { level: 'privileged', version: 'latest' };
  expect(read(plugin('PodSecurity', podSecurity(fields)))).toEqual({
    PodSecurity: {
      defaults: { enforce: { level: 'baseline', version: 'v1.30' }, audit: privileged, warn: privileged },
      exemptions: { namespaces: new Set(['kube-system']), usernames: new Set(), runtimeClasses: new Set() },
    },
  });
});

test.each([
  ['{}', 'no kind "" is registered for version ""'],
  [plugin('ResourceQuota', '{}'), "the plugin 'ResourceQuota' takes no configuration"],
  [plugin('EventRateLimit', eventLimits('[]')), 'limits: Invalid value: []: must not be empty'],
  [plugin('EventRateLimit', eventLimits('[{type: Server, qps: 0, burst: 1}]')), 'limits[0].qps: Invalid value: 0: must be positive'],
  [plugin('EventRateLimit', eventLimits('[{type: Pod, qps: 1, burst: 1}]')), 'limits[0].type: Unsupported value: "Pod"'],
  [plugin('ImagePolicyWebhook', '{imagePolicy: {kubeConfigFile: k, allowTTL: 9999}}'), 'valid value is between 1s and 30m0s, got 2h46m39s'],
  [plugin('PodTolerationRestriction', tolerations('default: [{key: a, operator: In}]')), 'podtolerationrestriction.default[0].operator'],
  [
    plugin('PodSecurity', podSecurity('defaults: {enforce: strict}')),
    'defaults.enforce: Invalid value: "strict": must be one of privileged',
  ],
  [plugin('PodSecurity', podSecurity('exemptions: {usernames: [a, a]}')), 'exemptions.usernames[1]: Duplicate value: "a"'],
  [plugin('PodSecurity', podSecurity('exemption: {}')), 'strict decoding error: exemption: unknown field'],
])('the configuration %s is refused', (text, message) => {
  expect(() => read(text, { '/etc/k': '' })).toThrow(message);
});
