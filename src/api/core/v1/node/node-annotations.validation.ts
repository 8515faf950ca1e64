import { FieldError, type Path } from '#machinery';
import { METADATA } from '../../../meta/v1/object-meta.validation.ts';
import { jsonProblem } from '../secret/json-document.ts';
import type { Taint } from './node.ts';
import { validateTaints } from './taint.validation.ts';

const TAINTS = 'scheduler.alpha.kubernetes.io/taints';
const AVOID_PODS = 'scheduler.alpha.kubernetes.io/preferAvoidPods';

/** Taints and preferAvoidPods in their deprecated annotations. */
export function validateNodeAnnotations(annotations: Readonly<Record<string, string>>): FieldError[] {
  const path = METADATA.child('annotations');
  const taints = annotations[TAINTS];
  const avoidPods = annotations[AVOID_PODS];
  return [...(taints ? validateTaintsText(path, taints) : []), ...(avoidPods ? validateAvoidPodsText(path, avoidPods) : [])];
}

function validateTaintsText(path: Path, text: string): FieldError[] {
  const problem = jsonProblem(text, { type: 'array', goType: '[]core.Taint' });
  if (problem) return [FieldError.invalid(path, TAINTS, problem)];
  return validateTaints(path.child(TAINTS), (JSON.parse(text) ?? []) as Taint[]);
}

interface AvoidPods {
  readonly preferAvoidPods?: readonly { readonly podSignature?: { readonly podController?: { readonly controller?: boolean } } }[];
}

function validateAvoidPodsText(path: Path, text: string): FieldError[] {
  const problem = jsonProblem(text, { type: 'object', goType: 'v1.AvoidPods' });
  if (problem) return [FieldError.invalid(path.child('AvoidPods'), AVOID_PODS, problem)];
  const { preferAvoidPods } = (JSON.parse(text) ?? {}) as AvoidPods;
  return (preferAvoidPods ?? []).flatMap((entry, i) => {
    const at = path.child(AVOID_PODS).index(i).child('PodSignature');
    const controller = entry?.podSignature?.podController;
    if (!controller) return [FieldError.required(at)];
    if (controller.controller) return [];
    return [FieldError.invalid(at.child('PodController', 'Controller'), false, 'must point to a controller')];
  });
}
