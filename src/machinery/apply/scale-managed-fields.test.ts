import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../json/json-value.ts';
import type { ManagedFieldsEntry } from './owners.ts';
import { managedFieldsAfterScale, scaleManagedFields } from './scale-managed-fields.ts';

const NOW = '2026-01-01T00:00:00Z';

describe('the scale subresource', () => {
  const paths = { 'apps/v1': ['spec', 'replicas'] };
  const owner = (manager: string, fields: JsonValue, rest: Partial<ManagedFieldsEntry> = {}) =>
    ({
      manager,
      operation: 'Apply',
      apiVersion: 'apps/v1',
      fieldsType: 'FieldsV1',
      fieldsV1: fields,
      ...rest,
    }) as unknown as ManagedFieldsEntry;
  const entries = [owner('m1', { 'f:spec': { 'f:paused': {}, 'f:replicas': {} } }), owner('m2', { 'f:spec': { 'f:paused': {} } })];

  it('shows only who owns the replicas', () => {
    expect(scaleManagedFields(entries, paths)).toEqual([owner('m1', { 'f:spec': { 'f:replicas': {} } }, { apiVersion: 'autoscaling/v1' })]);
  });

  it('takes the replicas from their owner', () => {
    const scaleEntries = [
      owner(
        'hpa',
        { 'f:spec': { 'f:replicas': {} } },
        { operation: 'Update', apiVersion: 'autoscaling/v1', subresource: 'scale', time: NOW },
      ),
    ];
    expect(managedFieldsAfterScale({ entries, scaleEntries, apiVersion: 'apps/v1', paths })).toEqual([
      owner('m1', { 'f:spec': { 'f:paused': {} } }),
      entries[1],
      owner('hpa', { 'f:spec': { 'f:replicas': {} } }, { operation: 'Update', subresource: 'scale' }),
    ]);
  });

  it('changes nothing when the owner stays', () => {
    expect(managedFieldsAfterScale({ entries, scaleEntries: scaleManagedFields(entries, paths), apiVersion: 'apps/v1', paths })).toEqual(
      entries,
    );
  });
});
