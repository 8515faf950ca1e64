/**
 * The Common Expression Language as the Kubernetes API uses it.
 *
 *     const self = schemaType(schema, { name: 'self' });          // or objectType(…), listType(…), DYN, …
 *     const result = compile('self.replicas <= self.max', { variables: { self, oldSelf: self }, resultTypes: [BOOL] });
 *     if (!result.ok) throw new Error(`compilation failed: ${result.message}`);
 *     result.program.evaluate({ self: object });                  // plain data in, a CelValue out; throws a CelError
 *     result.program.run({ self: object }, { costLimit });        // { value | error, cost }
 *     result.program.estimateCost();                              // { min, max }, by the bounds in the declared types
 *
 * Values of variables are plain JSON-shaped data; their declared types decide what they are to an expression (a
 * number an int or a double, a string a timestamp). `toJson` turns a result back into plain data.
 */
export { ADMISSION_REQUEST_TYPE, NAMESPACE_OBJECT_TYPE } from './admission-types.ts';
export { apiType } from './api-types.ts';
export { type CelLibrary, declare, type FunctionDecl, type Implementation, method, type Overload, overload } from './check/declarations.ts';
export { CelEnvironment, type TypeResolver } from './check/environment.ts';
export { type CompileOptions, type CompileResult, compile } from './compile.ts';
export type { SizeEstimator } from './cost/cost-estimator.ts';
export type { Estimate } from './cost/estimate.ts';
export { DEVICE_ENVIRONMENT, FULL_ENVIRONMENT, KUBERNETES_ENVIRONMENT, MUTATION_ENVIRONMENT } from './environments.ts';
export { escapeIdentifier, unescapeIdentifier } from './escaping.ts';
export type { Activation } from './eval/context.ts';
export {
  AUTHORIZER_TYPE,
  type AuthorizationCheck,
  type AuthorizationDecision,
  type AuthorizationSubject,
  type Authorize,
  AuthorizerValue,
  type CheckedResource,
  RESOURCE_CHECK_TYPE,
  ResourceCheckValue,
} from './library/authorization.ts';
export { JSON_PATCH_TYPE, JsonPatchValue, ObjectLiteralValue, resolveMutationType } from './library/mutation.ts';
export { CIDR_TYPE, CidrValue, IP_TYPE, IpValue } from './library/networks.ts';
export { QUANTITY_TYPE, QuantityValue } from './library/quantities.ts';
export { SEMVER_TYPE, SemverValue } from './library/semver.ts';
export { URL_TYPE, UrlValue } from './library/urls.ts';
export {
  costErrorMessage,
  MAX_MESSAGE_SIZE,
  MAX_REQUEST_SIZE,
  maxCardinality,
  multiplyCost,
  PER_CALL_LIMIT,
  RUNTIME_COST_BUDGET,
  RUNTIME_COST_BUDGET_MATCH_CONDITIONS,
  STATIC_ESTIMATED_COST_LIMIT,
  STATIC_ESTIMATED_CRD_COST_LIMIT,
} from './limits.ts';
export { BoundVariables, PolicyVariables } from './policy-variables.ts';
export { CelError, CelProgram, declaredSizes, type EvalOutcome, type EvaluateOptions } from './program.ts';
export { Regex } from './regexp/regex.ts';
export { RegexError } from './regexp/syntax.ts';
export { schemaType, type TypedSchema } from './schema-types.ts';
export type { Issue, Location } from './syntax/source.ts';
export {
  ANY,
  BOOL,
  BYTES,
  type CelField,
  type CelKind,
  CelType,
  DOUBLE,
  DURATION,
  DYN,
  type FieldResolver,
  formatType,
  INT,
  isSameType,
  listType,
  mapType,
  NULL,
  objectType,
  opaqueType,
  optionalType,
  STRING,
  TIMESTAMP,
  type TypeTraits,
  UINT,
} from './types.ts';
export { CelList, CelMap, EntryMap, fromNative } from './values/containers.ts';
export { toJson, typeOf } from './values/inspect.ts';
export { CelDuration, CelTimestamp } from './values/time.ts';
export { CelDouble, type CelInt, CelObject, CelOptional, CelUint, type CelValue, EvalFailure } from './values/value.ts';
