import type { authorization, meta } from '#api';
import { type FieldRequirement, parseFieldSelector, parseLabelSelector, StatusError } from '#machinery';
import type { UserInfo } from '../../authn/user.ts';
import type { AuthorizationAttributes, Authorizer, Decision } from '../../authz/authorizer.ts';
import type { KubeObject } from '../../registry/kube-object.ts';
import type { Handler } from '../../request/api-response.ts';
import type { HandlerDeps } from '../resource-call.ts';
import { admitReview, type ReviewCall, reviewHandler, validateReview } from './review-call.ts';

type Spec = authorization.SubjectAccessReviewSpec;

/** Answers `kubectl auth can-i` for others: SubjectAccessReview and LocalSubjectAccessReview. */
export function subjectAccessReviews(authorizer: Authorizer, deps: () => HandlerDeps): Handler {
  return reviewHandler(deps, (call) => answer(call, authorizer, userOf));
}

/** Answers it for who asks: SelfSubjectAccessReview. */
export function selfSubjectAccessReviews(authorizer: Authorizer, deps: () => HandlerDeps): Handler {
  return reviewHandler(deps, (call) => answer(call, authorizer, () => call.call.user));
}

function userOf({ user = '', uid, groups = [], extra }: Spec): UserInfo {
  return { name: user, groups, ...(uid && { uid }), ...(extra && { extra }) };
}

async function answer(call: ReviewCall, authorizer: Authorizer, subject: (spec: Spec) => UserInfo): Promise<KubeObject> {
  const review = await admitReview(call);
  const { strategy, group } = call.call.resource;
  const errors = strategy.validate?.(review) ?? [];
  // The kind is empty here, for upstream reads it from where it is never set.
  if (errors.length > 0) throw StatusError.invalid({ group, kind: '' }, '', errors);
  await validateReview({ ...call, review });
  const spec = (review.spec ?? {}) as Spec;
  const question = attributesOf(spec, subject(spec));
  const decision = await authorizer.authorize(question.attributes);
  return { ...review, status: statusOf(decision, question.problems) };
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

interface Question {
  readonly attributes: AuthorizationAttributes;
  /** What of the selectors was not understood, and so not considered. */
  readonly problems: readonly string[];
}

function attributesOf({ resourceAttributes, nonResourceAttributes }: Spec, user: UserInfo): Question {
  if (resourceAttributes === undefined || resourceAttributes === null) {
    const { path = '', verb = '' } = nonResourceAttributes ?? {};
    return { attributes: { ...NOTHING, user, isResource: false, path, verb }, problems: [] };
  }
  const { version, fieldSelector, labelSelector, ...asked } = resourceAttributes;
  const fields = fieldRequirements(fieldSelector ?? undefined);
  const attributes = {
    ...NOTHING,
    ...asked,
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
  const given = selector?.requirements ?? [];
  const requirements = given.flatMap(fieldRequirement);
  return { requirements, problems: requirements.length < given.length ? [unread('fieldSelector', requirements.length)] : [] };
}

const FIELD_OPERATORS: Readonly<Record<string, FieldRequirement['operator']>> = { In: '=', NotIn: '!=' };

function fieldRequirement({ key, operator, values = [] }: meta.FieldSelectorRequirement): readonly FieldRequirement[] {
  const known = FIELD_OPERATORS[operator];
  return known !== undefined && values.length === 1 ? [{ field: key, operator: known, value: values[0]! }] : [];
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
  const given = selector?.requirements ?? [];
  const known = given.filter(({ operator }) => LABEL_OPERATORS.has(operator));
  return known.length < given.length ? unread('labelSelector', known.length) : undefined;
}

function unread(selector: string, understood: number): string {
  return `spec.resourceAttributes.${selector} ${understood > 0 ? 'partially ignored' : 'ignored'} due to parse error`;
}
