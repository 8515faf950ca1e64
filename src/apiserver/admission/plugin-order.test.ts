import { expect, test } from 'vitest';
import { MetricsRegistry, realClock, seededRandom, silentLogger } from '#base';
import { alwaysAllow } from '../authz/privileged-groups.ts';
import { HttpsKubeletConnector } from '../kubelet-client/https-kubelet-connector.ts';
import { ResourceTable } from '../registry/generic/resource-table.ts';
import { OptionalPlugins } from './optional-plugins.ts';
import { OPTIONAL_PLUGINS, orderedPlugins, PLUGIN_ORDER, TOKEN_VOLUME_NAMES } from './plugin-order.ts';
import { builtInPlugins } from './plugins.ts';

const plugin = (name: string) => ({ name, operations: [] });
const names = (plugins: readonly { name: string }[]) => plugins.map(({ name }) => name);

test('plugins run in one order, those it does not know last', () => {
  const plugins = ['ResourceQuota', 'RBACEscalation', 'CertificateSigning', 'NamespaceLifecycle'].map(plugin);
  expect(names(orderedPlugins(plugins))).toEqual(['NamespaceLifecycle', 'CertificateSigning', 'ResourceQuota', 'RBACEscalation']);
});

test('plugins that are turned off do not run', () => {
  expect(names(orderedPlugins(['Priority', 'PodSecurity'].map(plugin), ['PodSecurity']))).toEqual(['Priority']);
});

test('every built-in plugin has its place', () => {
  const metrics = new MetricsRegistry();
  using kubelets = new HttpsKubeletConnector();
  const clocks = { clock: realClock, peerClock: realClock };
  const deps = { table: new ResourceTable(), ...clocks, random: seededRandom(1), authorizer: alwaysAllow, metrics, kubelets };
  // Those of certificates are made with their authority, or where trust bundles are served.
  const certificates = PLUGIN_ORDER.filter((name) => name.startsWith('Certificate') || name === 'ClusterTrustBundleAttest');
  const validation = ['ResourceClaimAuthorization', 'PodCertificateSigning', 'PolicyParameterAuthorization'];
  expect(names(orderedPlugins(builtInPlugins(deps))).slice(0, validation.length)).toEqual(validation);
  const kubeconfig = { path: '', text: '' };
  const ImagePolicyWebhook = { kubeconfig, allowTtlMs: 0, denyTtlMs: 0, retryBackoffMs: 0, defaultAllow: false };
  const own = { ...deps, logger: silentLogger, client: () => expect.unreachable() };
  const optional = new OptionalPlugins(OPTIONAL_PLUGINS, { EventRateLimit: [], ImagePolicyWebhook }, own);
  const ordered = names(orderedPlugins([...builtInPlugins(deps), ...optional.plugins]));
  expect(ordered.indexOf(TOKEN_VOLUME_NAMES)).toBe(ordered.indexOf('MutatingAdmissionPolicy') - 1);
  const named = ordered.filter((name) => !validation.includes(name) && name !== TOKEN_VOLUME_NAMES);
  expect([...named, ...certificates].toSorted()).toEqual([...PLUGIN_ORDER].toSorted());
});
