import type { authorization, meta } from '#api';
import { lookupTable } from '#base';
import { type FieldRequirement, parseFieldSelector, parseLabelSelector, StatusError } from '#machinery';
import type { AuthorizationAttributes, Authorizer, Decision } from '../../authz/authorizer.ts';
import type { UserInfo } from '../../request/user.ts';
import type { KubeObject } from '../../watch-cache/kube-object.ts';
import type { VerbHandler } from '../handler-table.ts';
import { admitReview, type ReviewCall, reviewHandler, validateReview } from './review-call.ts';

type Spec = authorization.SubjectAccessReviewSpec;

/** Answers `kubectl auth can-i` for others: SubjectAccessReview and LocalSubjectAccessReview. */
export function subjectAccessReviews(authorizer: Authorizer): VerbHandler {
  return reviewHandler((call) => review(call, authorizer, userOf));
}

/** SelfSubjectAccessReview. */
export function selfSubjectAccessReviews(authorizer: Authorizer): VerbHandler {
  return reviewHandler((call) => review(call, authorizer, () => call.call.user));
}

function userOf({ user = '', uid, groups = [], extra }: Spec): UserInfo {
  return { name: user, groups, ...(uid && { uid }), ...(extra && { extra }) };
}

async function review(call: ReviewCall, authorizer: Authorizer, subject: (spec: Spec) => UserInfo): Promise<KubeObject> {
  const review = await admitReview(call);
  const { strategy, group } = call.call.resource;
  const errors = strategy.validate?.(review) ?? [];
  // The kind is empty: upstream never sets it here.
  if (errors.length > 0) throw StatusError.invalid({ group, kind: '' }, '', errors);
  await validateReview({ ...call, review });
  const spec = (review.spec ?? {}) as Spec;
  const check = attributesOf(spec, subject(spec));
  const decision = await authorizer.authorize(check.attributes);
  return { ...review, status: statusOf(decision, check.problems) };
}

function statusOf({ verdict, reason, error }: Decision, problems: readonly string[]): authorization.SubjectAccessReviewStatus {
  const evaluationError = [...(error === undefined ? [] : [error]), ...problems].join('; ');
  return {
    allowed: verdict === 'allow',
    ...(verdict === 'deny' && { denied: true }),
    ...(reason !== '' && { reason }),
    ...(evaluationError !== '' && { evaluationError }),
  };
}

interface AccessCheck {
  readonly attributes: AuthorizationAttributes;
  /** Parts of selectors that were not understood and are ignored. */
  readonly problems: readonly string[];
}

function attributesOf({ resourceAttributes, nonResourceAttributes }: Spec, user: UserInfo): AccessCheck {
  if (resourceAttributes === undefined || resourceAttributes === null) {
    const { path = '', verb = '' } = nonResourceAttributes ?? {};
    return { attributes: { ...NOTHING, user, isResource: false, path, verb }, problems: [] };
  }
  const { version, fieldSelector, labelSelector, ...requested } = resourceAttributes;
  const fields = fieldRequirements(fieldSelector ?? undefined);
  const attributes = {
    ...NOTHING,
    ...requested,
    user,
    isResource: true,
    version: version || '*',
    ...(fields.requirements.length > 0 && { fieldRequirements: fields.requirements }),
  };
  const labelsUnread = labelProblem(labelSelector ?? undefined);
  return { attributes, problems: [...fields.problems, ...(labelsUnread === undefined ? [] : [labelsUnread])] };
}

const NOTHING = { verb: '', path: '', group: '', version: '', resource: '', subresource: '', namespace: '', name: '' };

interface ReadRequirements {
  readonly requirements: readonly FieldRequirement[];
  readonly problems: readonly string[];
}

function fieldRequirements(selector: authorization.FieldSelectorAttributes | undefined): ReadRequirements {
  if (selector?.rawSelector) {
    try {
      return { requirements: parseFieldSelector(selector.rawSelector).requirements, problems: [] };
    } catch {
      return { requirements: [], problems: [unread('fieldSelector', 0)] };
    }
  }
  const allRequirements = selector?.requirements ?? [];
  const requirements = allRequirements.flatMap(fieldRequirement);
  return { requirements, problems: requirements.length < allRequirements.length ? [unread('fieldSelector', requirements.length)] : [] };
}

const FIELD_OPERATORS = lookupTable<FieldRequirement['operator']>({ In: '=', NotIn: '!=' });

function fieldRequirement({ key, operator, values = [] }: meta.FieldSelectorRequirement): readonly FieldRequirement[] {
  const fieldOperator = FIELD_OPERATORS[operator];
  return fieldOperator !== undefined && values.length === 1 ? [{ field: key, operator: fieldOperator, value: values[0]! }] : [];
}

const LABEL_OPERATORS: ReadonlySet<string> = new Set(['In', 'NotIn', 'Exists', 'DoesNotExist']);

function labelProblem(selector: authorization.LabelSelectorAttributes | undefined): string | undefined {
  if (selector?.rawSelector) {
    try {
      parseLabelSelector(selector.rawSelector);
      return undefined;
    } catch {
      return unread('labelSelector', 0);
    }
  }
  const requirements = selector?.requirements ?? [];
  const supported = requirements.filter(({ operator }) => LABEL_OPERATORS.has(operator));
  return supported.length < requirements.length ? unread('labelSelector', supported.length) : undefined;
}

function unread(selector: string, understood: number): string {
  return `spec.resourceAttributes.${selector} ${understood > 0 ? 'partially ignored' : 'ignored'} due to parse error`;
}
