import { FieldError, Path } from '#machinery';
import { sameValue } from '../../field-checks.ts';
import { goStruct } from '../../go-struct.ts';
import { validateLabelSelectorRequirement, validateSelectorOperator } from '../../meta/v1/label.validation.ts';
import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import type { LocalSubjectAccessReview } from './local-subject-access-review.ts';
import { NonResourceAttributes } from './non-resource-attributes.ts';
import type { FieldSelectorAttributes, LabelSelectorAttributes, ResourceAttributes } from './resource-attributes.ts';
import type { SelfSubjectAccessReview, SelfSubjectAccessReviewSpec } from './self-subject-access-review.ts';
import type { SubjectAccessReview } from './subject-access-review.ts';
import type { SubjectAccessReviewSpec } from './subject-access-review-spec.ts';

const SPEC = Path.of('spec');
// A single path element with dots, as upstream.
const RESOURCE = Path.of('spec.resourceAttributes');

export function validateSubjectAccessReview({ metadata, spec }: SubjectAccessReview): FieldError[] {
  return [...validateSubjectSpec(spec ?? {}), ...validateNoMetadata(metadata ?? {}, 'must be empty')];
}

export function validateSelfSubjectAccessReview({ metadata, spec }: SelfSubjectAccessReview): FieldError[] {
  return [
    ...validateOneOf(spec ?? {}),
    ...validateResourceAttributes(spec?.resourceAttributes),
    ...validateNoMetadata(metadata ?? {}, 'must be empty'),
  ];
}

export function validateLocalSubjectAccessReview({ metadata, spec }: LocalSubjectAccessReview): FieldError[] {
  const errors = validateSubjectSpec(spec ?? {});
  const { namespace = '', ...rest } = metadata ?? {};
  if (!isEmptyMetadata(rest))
    errors.push(FieldError.invalid(Path.of('metadata'), goStruct(ObjectMeta, metadata), 'must be empty except for namespace'));
  const { resourceAttributes: resource, nonResourceAttributes: other } = spec ?? {};
  if (resource && (resource.namespace ?? '') !== namespace) {
    errors.push(FieldError.invalid(RESOURCE.child('namespace'), resource.namespace ?? '', 'must match metadata.namespace'));
  }
  if (!other) return errors;
  const path = Path.of('spec.nonResourceAttributes');
  return [...errors, FieldError.invalid(path, goStruct(NonResourceAttributes, other), 'disallowed on this kind of request')];
}

function validateNoMetadata(metadata: ObjectMeta, detail: string): FieldError[] {
  return isEmptyMetadata(metadata) ? [] : [FieldError.invalid(Path.of('metadata'), goStruct(ObjectMeta, metadata), detail)];
}

function isEmptyMetadata({ managedFields: _, ...metadata }: ObjectMeta): boolean {
  return sameValue({}, metadata);
}

function validateSubjectSpec(spec: SubjectAccessReviewSpec): FieldError[] {
  const errors = validateOneOf(spec);
  if (!spec.user && !spec.groups?.length) {
    errors.push(FieldError.invalid(SPEC.child('user'), '', 'at least one of user or group must be specified'));
  }
  return [...errors, ...validateResourceAttributes(spec.resourceAttributes)];
}

function validateOneOf({ resourceAttributes, nonResourceAttributes }: SelfSubjectAccessReviewSpec): FieldError[] {
  const printed = goStruct(NonResourceAttributes, nonResourceAttributes);
  if (resourceAttributes && nonResourceAttributes) {
    const detail = 'cannot be specified in combination with resourceAttributes';
    return [FieldError.invalid(SPEC.child('nonResourceAttributes'), printed, detail)];
  }
  if (resourceAttributes || nonResourceAttributes) return [];
  const detail = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';
  return [FieldError.invalid(SPEC.child('resourceAttributes'), printed, detail)];
}

function validateResourceAttributes(attributes: ResourceAttributes | undefined): FieldError[] {
  const { fieldSelector, labelSelector } = attributes ?? {};
  return [
    ...(fieldSelector ? validateFieldSelector(RESOURCE.child('fieldSelector'), fieldSelector) : []),
    ...(labelSelector ? validateLabelSelector(RESOURCE.child('labelSelector'), labelSelector) : []),
  ];
}

function validateEither(
  path: Path,
  { rawSelector, requirements }: { rawSelector?: string; requirements?: readonly unknown[] },
): FieldError[] {
  if (rawSelector && requirements?.length) {
    return [FieldError.invalid(path.child('rawSelector'), rawSelector, 'may not specified at the same time as requirements')];
  }
  if (rawSelector || requirements?.length) return [];
  return [FieldError.required(path.child('requirements'), `when ${path} is specified, requirements or rawSelector is required`)];
}

const NEWER_OPERATORS = { allowUnknownOperators: true };

function validateFieldSelector(path: Path, selector: FieldSelectorAttributes): FieldError[] {
  const requirements = (selector.requirements ?? []).flatMap((requirement, i) => {
    const at = path.child('requirements').index(i);
    const key = requirement.key ? [] : [FieldError.required(at.child('key'), 'must be specified')];
    return [...key, ...validateSelectorOperator(requirement, at, NEWER_OPERATORS)];
  });
  return [...validateEither(path, selector), ...requirements];
}

function validateLabelSelector(path: Path, selector: LabelSelectorAttributes): FieldError[] {
  const requirements = (selector.requirements ?? []).flatMap((requirement, i) =>
    validateLabelSelectorRequirement(requirement, path.child('requirements').index(i), NEWER_OPERATORS),
  );
  return [...validateEither(path, selector), ...requirements];
}
