import { describe, expect, test } from 'vitest';
import { KINDS, type Kind, PRERELEASE_KINDS } from '#api';
import { enablementOf, parseRuntimeConfig } from './runtime-config.ts';

const ALL: readonly Kind<unknown>[] = [...KINDS, ...PRERELEASE_KINDS];

function served(text: string): ReadonlySet<string> {
  return new Set(
    ALL.filter(enablementOf(parseRuntimeConfig(text))).map(({ group, version, resource }) => `${group}/${version}/${resource}`),
  );
}

describe('--runtime-config', () => {
  test('without it, stable versions are served and no others', () => {
    expect(served('')).toEqual(new Set(KINDS.map(({ group, version, resource }) => `${group}/${version}/${resource}`)));
  });

  test.each([
    ['api/all=true', ['networking.k8s.io/v1beta1/ipaddresses', 'admissionregistration.k8s.io/v1alpha1/mutatingadmissionpolicies'], []],
    ['api/beta=true', ['resource.k8s.io/v1beta1/resourceclaims'], ['admissionregistration.k8s.io/v1alpha1/mutatingadmissionpolicies']],
    ['api/alpha=true', ['admissionregistration.k8s.io/v1alpha1/mutatingadmissionpolicies'], ['resource.k8s.io/v1beta1/resourceclaims']],
    ['networking.k8s.io/v1beta1', ['networking.k8s.io/v1beta1/servicecidrs'], ['storage.k8s.io/v1beta1/volumeattributesclasses']],
    ['networking.k8s.io/v1beta1/ipaddresses=true', ['networking.k8s.io/v1beta1/ipaddresses'], ['networking.k8s.io/v1beta1/servicecidrs']],
    ['api/all=true,resource.k8s.io/v1beta1=false', ['resource.k8s.io/v1beta2/resourceclaims'], ['resource.k8s.io/v1beta1/resourceclaims']],
    ['batch/v1/cronjobs=false', ['batch/v1/jobs'], ['batch/v1/cronjobs']],
    ['api/all=false,api/ga=true', ['/v1/pods'], ['networking.k8s.io/v1beta1/ipaddresses']],
    ['flowcontrol.apiserver.k8s.io/v1beta3=true', ['flowcontrol.apiserver.k8s.io/v1/flowschemas'], []],
  ])('%s', (text, on, off) => {
    const result = served(text);
    expect(on.filter((id) => !result.has(id))).toEqual([]);
    expect(off.filter((id) => result.has(id))).toEqual([]);
  });

  test.each([
    ['api/all=false', 'invalid runtime-config with only api/all=false'],
    ['api/beta=yes', 'invalid value api/beta=yes'],
    ['v1=true', 'runtime-config invalid key v1'],
    ['a/b/c/d=true', 'runtime-config invalid key a/b/c/d'],
    ['z.io/v1=true,a.io/v1=true', 'unknown api groups a.io/v1,z.io/v1'],
    ['apps/v9=true', 'group version apps/v9 that has not been registered'],
    ['apps/v1=maybe', 'invalid value of apps/v1: maybe, err: strconv.ParseBool: parsing "maybe": invalid syntax'],
    [
      'apps/v1/Deployments=false',
      'invalid key apps/v1/Deployments: group/version/resource and resource is always lowercase plural, not "Deployments"',
    ],
  ])('%s is refused', (text, message) => {
    expect(() => enablementOf(parseRuntimeConfig(text))).toThrow(message);
  });
});
