import { describe, expect, it } from 'vitest';
import { apps } from '#api';
import { serveAdmission } from '../../admission/admission-server.test-data.ts';
import { partialMetadata } from '../../printing/table.ts';
import { daemonSetsStrategy } from './daemon-sets.ts';

const GENERATION = 'deprecated.daemonset.template.generation';
const PLACE = { name: 'a', namespace: 'default' };
const SPEC = {
  selector: { matchLabels: { app: 'a' } },
  template: { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
};
const annotated = (annotations: Record<string, string>) => ({ metadata: { ...PLACE, annotations }, spec: SPEC }) as never;
const refusal = async (of: Promise<unknown>) => {
  const error = await of.then(
    () => undefined,
    (thrown: { code: number; message: string }) => thrown,
  );
  return `${error?.code} ${error?.message}`;
};

describe('an annotation that is a number in other versions', () => {
  const wrong = 'strconv.ParseInt: parsing "x": invalid syntax';
  const cases = [
    { kind: apps.DaemonSet, key: GENERATION, why: wrong },
    { kind: apps.Deployment, key: apps.ROLLBACK_TO, why: `failed to parse annotation[${apps.ROLLBACK_TO}]=x as int64: ${wrong}` },
  ];

  it.each(cases)('$key must be one', async ({ kind, key, why }) => {
    const objects = (await serveAdmission()).client.of(kind as typeof apps.DaemonSet);
    const bad = annotated({ [key]: 'x' });
    const unhandled = `400 ${kind.kind} in version "v1" cannot be handled as a ${kind.kind}: ${why}`;
    expect(await refusal(objects.create(bad))).toBe(unhandled);
    expect(await refusal(objects.apply(bad, { fieldManager: 't' }))).toBe(
      `500 failed to convert to unversioned (default/a; apps/v1, Kind=${kind.kind}): ${why}`,
    );
    await objects.create(annotated({}));
    expect(await refusal(objects.update(bad))).toBe(unhandled);
    const patch = { metadata: { annotations: { [key]: 'x' } } };
    expect(await refusal(objects.patch(PLACE, patch, { type: 'merge' }))).toMatch(/^422 .*patch: Invalid value.*: invalid syntax$/s);
    expect(await refusal(objects.patch(PLACE, patch, { type: 'strategic' }))).toBe(`500 ${why}`);
  });
});

it('metadata printed alone lacks annotations that are fields of the internal version', () => {
  const set = annotated({ other: 'x', [GENERATION]: '1' });
  expect(partialMetadata(set, { strategy: daemonSetsStrategy } as never).metadata.annotations).toEqual({ other: 'x' });
  expect(partialMetadata(annotated({ [GENERATION]: '1' }), { strategy: daemonSetsStrategy } as never).metadata).toEqual(PLACE);
});

describe('the revision that a deployment goes back to', () => {
  it.each([
    ['+03', '3'],
    ['0', '0'],
    ['', undefined],
  ])('is read from %j', async (text, annotation) => {
    const deployments = (await serveAdmission()).client.of(apps.Deployment);
    const { metadata } = await deployments.create(annotated({ [apps.ROLLBACK_TO]: text }));
    expect(metadata.annotations?.[apps.ROLLBACK_TO]).toBe(annotation);
  });

  it('is not negative', async () => {
    const deployments = (await serveAdmission()).client.of(apps.Deployment);
    const created = deployments.create(annotated({ [apps.ROLLBACK_TO]: '-1' }));
    await expect(created).rejects.toThrow('spec.rollback.version: Invalid value: -1: must be greater than or equal to 0');
  });
});
