export { type AdmissionAttributes, type AdmissionChain, type AdmissionPlugin, admissionChain } from './admission/admission.ts';
export { PLUGIN_ORDER, type PluginName } from './admission/plugin-order.ts';
export type { Authenticator } from './authn/authenticator.ts';
export type { KeyMaterial } from './authn/service-accounts/keys.ts';
export { parseTokenFile, staticTokens } from './authn/static-tokens.ts';
export { ANONYMOUS, type UserInfo } from './authn/user.ts';
export type { Authorizer } from './authz/authorizer.ts';
export type { PolicyRule } from './authz/rbac/policy-rule.ts';
export { type RbacPolicy, reconcileRbac } from './authz/rbac/reconcile-rbac.ts';
export { type InProcessOptions, inProcessTransport } from './in-process.ts';
export { DEFAULT_SERVICES, type ServicesConfig } from './registry/allocation/service-claims.ts';
export { NODE_RULES } from './registry/bootstrap/rbac-policy.ts';
export type { CachedObjects } from './registry/cached-objects.ts';
export { type ComponentCheck, type ComponentChecks, componentChecks } from './registry/subresources/component-statuses.ts';
export type { ApiRequest } from './request/api-request.ts';
export type { ApiResponse, Handler } from './request/api-response.ts';
export { type AuthorizationMode, createSecurity, type Security, type SecurityConfig, type SecurityContext } from './security.ts';
export {
  type ApiServer,
  type ApiServerConfig,
  type ApiServerDeps,
  startApiServer,
} from './server.ts';
export { HttpsKubeletConnector, type HttpsKubeletOptions } from './streaming/https-kubelet-connector.ts';
export {
  type KubeletConnector,
  type KubeletHandler,
  type KubeletRequest,
  type KubeletResponse,
  LocalKubelets,
} from './streaming/kubelet-connector.ts';
