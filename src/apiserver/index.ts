export { type AdmissionAttributes, type AdmissionChain, type AdmissionPlugin, admissionChain } from './admission/admission.ts';
export { readAdmissionConfiguration } from './admission/configuration/admission-configuration.ts';
export { OPTIONAL_PLUGINS, type OptionalPluginName, PLUGIN_ORDER, type PluginName } from './admission/plugin-order.ts';
export type { AggregationConfig } from './aggregation/aggregation.ts';
export type { ProxyClientCertificate } from './aggregation/https-backend.ts';
export { AUDIT_MODES, type AuditConfig, type AuditLogConfig, type AuditMode, type AuditWebhookConfig } from './audit/audit.ts';
export { type AuditPolicy, parseAuditPolicy } from './audit/audit-policy.ts';
export { LOG_FORMATS, type LogFormat } from './audit/log-backend.ts';
export type { Authenticator } from './authn/authenticator.ts';
export { type JwtConfiguration, SIGNING_ALGORITHMS } from './authn/oidc/jwt-configuration.ts';
export type { RequestHeaderConfig } from './authn/request-header.ts';
export type { KeyMaterial } from './authn/service-accounts/keys.ts';
export { parseTokenFile, staticTokens } from './authn/static-tokens.ts';
export { type AbacPolicy, parseAbacPolicies } from './authz/abac/abac-policy.ts';
export type { Authorizer } from './authz/authorizer.ts';
export type { PolicyRule } from './authz/rbac/policy-rule.ts';
export { type RbacPolicy, reconcileRbac } from './authz/rbac/reconcile-rbac.ts';
export { kubernetesServiceIp } from './bootstrap/kubernetes-service.ts';
export { NODE_RULES } from './bootstrap/rbac-policy.ts';
export { type EgressSelector, readEgressSelector } from './egress/egress-selector.ts';
export type { ExternalSecurityConfig } from './external-security.ts';
export type { HttpPolicy } from './filters/chain.ts';
export { originPatternProblem } from './filters/cors.ts';
export { isTransportDirective } from './filters/strict-transport-security.ts';
export type { ApiResponse, Handler } from './handlers/api-response.ts';
export { type ComponentCheck, type ComponentChecks, componentChecks } from './handlers/subresources/component-statuses.ts';
export { type InProcessOptions, inProcessTransport } from './in-process/in-process-transport.ts';
export { HttpsKubeletConnector, type HttpsKubeletOptions } from './kubelet-client/https-kubelet-connector.ts';
export {
  type KubeletConnector,
  type KubeletHandler,
  type KubeletRequest,
  type KubeletResponse,
  LocalKubelets,
} from './kubelet-client/kubelet-connector.ts';
export { DEFAULT_SERVICES, type ServicesConfig } from './registry/core/allocation/service-claims.ts';
export type { CachedObjects } from './registry/generic/cached-objects.ts';
export { enablementOf, parseRuntimeConfig, type RuntimeConfig } from './registry/runtime-config.ts';
export { NEWEST_RELEASE } from './registry/served-kinds.ts';
export type { ApiRequest } from './request/api-request.ts';
export { ANONYMOUS, type UserInfo } from './request/user.ts';
export { type AuthorizationMode, createSecurity, type Security, type SecurityConfig, type SecurityContext } from './security.ts';
export {
  type ApiServer,
  type ApiServerConfig,
  type ApiServerDeps,
  startApiServer,
} from './server.ts';
export type { EncryptionConfig } from './storage-encryption/encryption.ts';
export { parseTracingConfiguration, type TracingConfiguration } from './tracing/tracing-configuration.ts';
