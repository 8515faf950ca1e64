import { describe, expect, it } from 'vitest';
import { type core, quota } from '#api';
import { type Charge, chargeQuota } from './quota-check.ts';

function capped(hard: Record<string, string>, used: Record<string, string> = {}, spec: object = {}): core.ResourceQuota {
  const zeros = Object.fromEntries(Object.keys(hard).map((name) => [name, '0']));
  return {
    metadata: { name: 'q' },
    spec: { hard, ...spec },
    status: { hard, used: { ...zeros, ...used } },
  } as unknown as core.ResourceQuota;
}

function pod(requests: Record<string, string>, spec: object = {}): core.Pod {
  return { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', resources: { requests } }], ...spec } } as unknown as core.Pod;
}

function charge(object: unknown, old?: unknown, evaluator: unknown = quota.podEvaluator): Charge {
  return {
    evaluator: evaluator as quota.QuotaEvaluator,
    object: object as core.Pod,
    old: old as core.Pod | undefined,
    isStatus: false,
    now: 0,
  };
}

function usedAfter(limited: core.ResourceQuota, change: Charge): Record<string, string> | undefined {
  const used = chargeQuota(limited, change);
  return used && (quota.listOfAmounts(used) as Record<string, string>);
}

describe('a charge to a quota', () => {
  it('adds what an object uses of what is capped', () => {
    const limited = capped({ pods: '5', 'requests.cpu': '2' }, { pods: '1', 'requests.cpu': '500m' });
    expect(usedAfter(limited, charge(pod({ cpu: '250m', memory: '1Gi' })))).toEqual({ pods: '2', 'requests.cpu': '750m' });
  });

  it('is rejected beyond the hard limit, naming only exceeded resources', () => {
    const limited = capped({ pods: '5', 'requests.cpu': '1', 'requests.memory': '1Gi' }, { pods: '1', 'requests.cpu': '800m' });
    expect(() => chargeQuota(limited, charge(pod({ cpu: '300m', memory: '2Gi' })))).toThrow(
      'exceeded quota: q, requested: requests.cpu=300m,requests.memory=2Gi, used: requests.cpu=800m,requests.memory=0, limited: requests.cpu=1,requests.memory=1Gi',
    );
  });

  it('needs requests and limits of each container for capped resources', () => {
    const limited = capped({ 'limits.memory': '1Gi', 'requests.cpu': '1' });
    const silent = { containers: [{ name: 'b' }, { name: 'a', resources: { requests: { cpu: '1' } } }] };
    expect(() => chargeQuota(limited, charge(pod({}, silent)))).toThrow(
      'failed quota: q: must specify limits.memory for: a,b; requests.cpu for: b',
    );
  });

  it('is rejected until the quota has a status', () => {
    const limited = { ...capped({ pods: '5' }), status: { hard: { pods: '5' } } } as core.ResourceQuota;
    expect(() => chargeQuota(limited, charge(pod({})))).toThrow('status unknown for quota: q, resources: pods');
  });

  it.each<[string, core.ResourceQuota, Charge]>([
    ['is about other resources', capped({ services: '1' }), charge(pod({}))],
    ['is about other pods', capped({ pods: '0' }, {}, { scopes: ['Terminating'] }), charge(pod({}))],
    ['has not been looked at by its controller', { metadata: { name: 'q' }, spec: { hard: { pods: '0' } } } as never, charge(pod({}))],
  ])('is none to a quota that %s', (_, limited, change) => {
    expect(chargeQuota(limited, change)).toBeUndefined();
  });

  it('counts only what an update adds', () => {
    const service = (type: string) => ({ metadata: { name: 's' }, spec: { type, ports: [{ port: 80 }] } });
    const limited = capped({ services: '1', 'services.nodeports': '1' }, { services: '1' });
    const change = charge(service('NodePort'), service('ClusterIP'), quota.serviceEvaluator);
    expect(usedAfter(limited, change)).toEqual({ services: '1', 'services.nodeports': '1' });
    expect(chargeQuota(limited, charge(service('ClusterIP'), service('NodePort'), quota.serviceEvaluator))).toBeUndefined();
  });

  it('counts an object whole that a quota did not count before', () => {
    const limited = capped({ pods: '1' }, {}, { scopes: ['Terminating'] });
    expect(usedAfter(limited, charge(pod({}, { activeDeadlineSeconds: 5 }), pod({})))).toEqual({ pods: '1' });
  });
});
