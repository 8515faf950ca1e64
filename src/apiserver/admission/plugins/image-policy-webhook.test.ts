import { expect, test } from 'vitest';
import { seededRandom, VirtualClock } from '#base';
import { StatusError } from '#machinery';
import type { AdmissionAttributes } from '../admission.ts';
import { imagePolicyWebhook } from './image-policy-webhook.ts';

const POLICY = {
  kubeconfig: { path: '', text: '' },
  allowTtlMs: 10_000,
  denyTtlMs: 1000,
  retryBackoffMs: 1,
  defaultAllow: false,
};

/** The plugin with a service that gives these answers, one after the other. */
function pluginWith(answers: readonly unknown[], policy = POLICY) {
  const clock = new VirtualClock();
  const posted: unknown[] = [];
  const post = async (body: unknown) => {
    posted.push(body);
    const answer = answers[posted.length - 1];
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const plugin = imagePolicyWebhook(policy, { webhook: { post }, clock, random: seededRandom(1) });
  return { clock, posted, review: (attributes: AdmissionAttributes) => plugin.validate!(attributes) };
}

function creation(image: string, annotate = (_key: string, _value: string) => {}): AdmissionAttributes {
  const annotations = { 'team.image-policy.k8s.io/ticket': '7', other: 'x' };
  const spec = { containers: [{ name: 'c', image }], initContainers: [{ name: 'i', image: 'init:1' }] };
  const object = { metadata: { name: 'p', namespace: 'default', annotations }, spec };
  const resource = { group: '', resource: 'pods' };
  return { operation: 'CREATE', resource, subresource: '', namespace: 'default', name: 'p', object, audit: { annotate } } as never;
}

test('the service sees the images and the annotations that are for it, and is asked once while its answer holds', async () => {
  const { clock, posted, review } = pluginWith([{ status: { allowed: true } }, { status: { allowed: true } }]);
  await review(creation('app:1'));
  await review(creation('app:1'));
  expect(posted).toEqual([
    {
      apiVersion: 'imagepolicy.k8s.io/v1alpha1',
      kind: 'ImageReview',
      metadata: {},
      spec: {
        containers: [{ image: 'app:1' }, { image: 'init:1' }],
        annotations: { 'team.image-policy.k8s.io/ticket': '7' },
        namespace: 'default',
      },
      status: { allowed: false },
    },
  ]);
  await clock.advance(10_001);
  await review(creation('app:1'));
  expect(posted).toHaveLength(2);
});

test('a pod whose images are denied is forbidden, with the reason', async () => {
  const annotated: string[] = [];
  const { review } = pluginWith([{ status: { allowed: false, reason: 'too old', auditAnnotations: { rule: '3' } } }]);
  await expect(review(creation('app:1', (key, value) => annotated.push(`${key}=${value}`)))).rejects.toThrow(
    'pods "p" is forbidden: image policy webhook backend denied one or more images: too old',
  );
  expect(annotated).toEqual(['imagepolicywebhook.image-policy.k8s.io/rule=3']);
});

test('a failing image policy webhook forbids the pod', async () => {
  const { review } = pluginWith([StatusError.badRequest('no')]);
  await expect(review(creation('app:1'))).rejects.toThrow('pods "p" is forbidden: no');
});

test('a failing image policy webhook allows the pod with defaultAllow', async () => {
  const annotated: string[] = [];
  const { review } = pluginWith([{ nonsense: true }], { ...POLICY, defaultAllow: true });
  await review(creation('app:1', (key) => annotated.push(key)));
  expect(annotated).toEqual(['imagepolicywebhook.image-policy.k8s.io/failed-open']);
});
