export { type AdmissionAttributes, type AdmissionChain, type AdmissionPlugin, admissionChain } from './admission/admission.ts';
export type { Authenticator } from './authn/authenticator.ts';
export { parseTokenFile, staticTokens } from './authn/static-tokens.ts';
export { ANONYMOUS, type UserInfo } from './authn/user.ts';
export type { Authorizer } from './authz/authorizer.ts';
export { type InProcessOptions, inProcessTransport } from './in-process.ts';
export type { ApiRequest } from './request/api-request.ts';
export type { ApiResponse, Handler } from './request/api-response.ts';
export { type ApiServer, type ApiServerConfig, type ApiServerDeps, startApiServer } from './server.ts';
