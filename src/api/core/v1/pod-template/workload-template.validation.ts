import { type Selector, SelectorError, selectorFromObject } from '#machinery';
import type { FieldReport } from '../../../field-report.ts';
import { goMap } from '../../../go-struct.ts';
import type { LabelSelector } from '../../../meta/v1/label-selector.ts';
import type { PodTemplateSpec } from './pod-template-spec.ts';

/** The compiled selector of a workload; undefined if invalid. */
export function workloadSelector(selector: LabelSelector | undefined): Selector | undefined {
  try {
    return selectorFromObject(selector);
  } catch (error) {
    if (error instanceof SelectorError) return undefined;
    throw error;
  }
}

export function isEmptySelector(selector: LabelSelector): boolean {
  return Object.keys(selector.matchLabels ?? {}).length + (selector.matchExpressions?.length ?? 0) === 0;
}

/** The template's labels must match the workload's selector. */
export function validateTemplateLabels(template: PodTemplateSpec | undefined, at: FieldReport, selector: Selector): void {
  const labels = template?.metadata?.labels;
  if (selector.matches(labels)) return;
  at.child('metadata').child('labels').invalid(goMap(labels), '`selector` does not match template `labels`');
}

/** Pods of workloads that run indefinitely must have restartPolicy Always. */
export function validateRestartsAlways(template: PodTemplateSpec | undefined, at: FieldReport, kind: string): void {
  const { restartPolicy, activeDeadlineSeconds } = template?.spec ?? {};
  if (restartPolicy !== 'Always')
    at.child('spec')
      .child('restartPolicy')
      .notSupported(restartPolicy ?? '', ['Always']);
  if (activeDeadlineSeconds === undefined) return;
  at.child('spec').child('activeDeadlineSeconds').forbidden(`activeDeadlineSeconds in ${kind} is not Supported`);
}
