import { describe, expect, it } from 'vitest';
import { readProxyConfiguration } from './proxy-configuration.ts';

describe('a KubeProxyConfiguration', () => {
  it('has the defaults of upstream', () => {
    expect(readProxyConfiguration({ apiVersion: 'kubeproxy.config.k8s.io/v1alpha1', kind: 'KubeProxyConfiguration' })).toMatchObject({
      healthzBindAddress: '0.0.0.0:10256',
      metricsBindAddress: '127.0.0.1:10249',
      oomScoreAdj: -999,
      conntrack: { maxPerCore: 32_768, min: 131_072, tcpEstablishedMs: 86_400_000, tcpCloseWaitMs: 3_600_000 },
      syncPeriodMs: 30_000,
      minSyncPeriodMs: 1_000,
      masqueradeBit: 14,
    });
  });

  it('serves at the usual port of an address that has none', () => {
    expect(readProxyConfiguration({ healthzBindAddress: '::', metricsBindAddress: '10.0.0.1' })).toMatchObject({
      healthzBindAddress: '[::]:10256',
      metricsBindAddress: '10.0.0.1:10249',
    });
  });

  it('tells pods by the name of their interfaces', () => {
    const detectLocal = { interfaceNamePrefix: 'cali', bridgeInterface: 'cni0' };
    expect(readProxyConfiguration({ detectLocalMode: 'InterfaceNamePrefix', detectLocal })).toMatchObject({ podInterface: 'cali*' });
    expect(readProxyConfiguration({ detectLocalMode: 'BridgeInterface', detectLocal })).toMatchObject({ podInterface: 'cni0' });
    expect(readProxyConfiguration({ detectLocal })).not.toHaveProperty('podInterface');
  });

  it('says what has no effect here, and takes what upstream writes by default', () => {
    const written = {
      ...{ configSyncPeriod: '15m0s', featureGates: { Anything: true }, ipvs: { strictARP: true, excludeCIDRs: null }, winkernel: {} },
      ...{ mode: 'iptables', iptables: { localhostNodePorts: true }, portRange: '', enableProfiling: false },
      clientConnection: { qps: 5, burst: 10, contentType: 'application/vnd.kubernetes.protobuf', acceptContentTypes: '', kubeconfig: '/k' },
      logging: { format: 'text', verbosity: 4, flushFrequency: '5s', options: { json: { infoBufferSize: '0' } } },
    };
    const { withoutEffect, ...read } = readProxyConfiguration(written);
    expect(withoutEffect.map((sentence) => sentence.split(':')[0])).toEqual([
      ...['configSyncPeriod', 'featureGates', 'ipvs', 'clientConnection.contentType', 'logging.flushFrequency'],
    ]);
    expect(read).toMatchObject({
      rateLimit: { perSecond: 5, burst: 10 },
      kubeconfig: '/k',
      logging: { format: 'text', verbosity: 4 },
    });
    expect(readProxyConfiguration({}).withoutEffect).toEqual([]);
  });

  it.each([
    [{ mode: 'ipvs' }, 'mode: must be nftables or iptables or userspace'],
    [{ ipvs: { strictARP: 'yes' } }, 'ipvs.strictARP: must be true or false'],
    [{ ipvs: { color: 'red' } }, 'ipvs.color: unknown field'],
    [{ featureGates: { Anything: 'on' } }, 'featureGates.Anything: must be true or false'],
    [{ configSyncPeriod: 'soon' }, 'configSyncPeriod: "soon" is no duration'],
    [{ iptables: { localhostNodePorts: 1 } }, 'iptables.localhostNodePorts: must be true or false'],
    [{ clientConnection: { qps: 'fast' } }, 'clientConnection.qps: must be a number'],
    [{ clientConnection: { burst: 3 } }, 'clientConnection.burst: goes with qps'],
    [{ logging: { format: 'xml' } }, 'logging.format: must be text or json'],
    [{ detectLocalMode: 'BridgeInterface' }, 'detectLocal.bridgeInterface: must name an interface'],
    [{ detectLocalMode: 'InterfaceNamePrefix', detectLocal: { interfaceNamePrefix: 'a"; drop' } }, 'must name an interface'],
    [{ clusterCIDR: '10.0.0.0/33' }, 'clusterCIDR: "10.0.0.0/33" is not a range of addresses'],
    [{ nodePortAddresses: ['10.0.0.1'] }, 'neither a range of addresses nor primary'],
    [{ conntrack: { tcpEstablishedTimeout: 'soon' } }, 'conntrack.tcpEstablishedTimeout: "soon" is no duration'],
    [{ conntrack: { udpTimeout: '-5s' } }, 'conntrack.udpTimeout: must not be negative'],
    [{ mode: 'nftables', iptables: { syncPeriod: 'soon' } }, 'iptables.syncPeriod: "soon" is no duration'],
    [{ healthzBindAddress: 'here:1' }, 'healthzBindAddress: "here:1" is no address and port'],
    [{ metricsBindAddress: '0.0.0.0:99999' }, 'metricsBindAddress: "0.0.0.0:99999" is no address and port'],
    [{ oomScoreAdj: -2000 }, 'oomScoreAdj: must be a whole number from -1000 to 1000'],
    [{ bindAddress: 'here' }, 'bindAddress: "here" is no address'],
    [{ unheardOf: 1 }, 'unheardOf: unknown field'],
    [{ apiVersion: 'v1' }, 'apiVersion: must be kubeproxy.config.k8s.io/v1alpha1'],
    ['text', 'configuration: must be an object'],
  ])('%j is refused', (configuration, problem) => {
    expect(() => readProxyConfiguration(configuration)).toThrow(problem);
  });
});
