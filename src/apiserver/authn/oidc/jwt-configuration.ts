/** A JWT issuer with its claim mappings: an entry of `jwt` in an AuthenticationConfiguration. */
export interface JwtConfiguration {
  readonly issuer: {
    readonly url: string;
    readonly discoveryUrl?: string | undefined;
    /** PEM. */
    readonly certificateAuthority?: string | undefined;
    readonly audiences: readonly string[];
    /** The egress selector of requests to the issuer. Default: none. */
    readonly egress?: 'controlplane' | 'cluster' | undefined;
  };
  readonly claimValidationRules: readonly ClaimValidationRule[];
  readonly claimMappings: {
    readonly username: Mapping;
    readonly groups?: Mapping | undefined;
    readonly uid?: Mapping | undefined;
    readonly extra: readonly { readonly key: string; readonly value: Expression }[];
  };
  readonly userValidationRules: readonly ValidationRule[];
  /** Default: all asymmetric algorithms. */
  readonly signingAlgorithms?: readonly string[];
}

/** Over claims, or over the user. */
export interface Expression {
  readonly text: string;
  evaluate(variable: unknown): unknown;
}

export type Mapping = { readonly claim: string; readonly prefix: string } | { readonly expression: Expression };

export interface ValidationRule {
  readonly expression: Expression;
  readonly message: string;
}

export type ClaimValidationRule = ValidationRule | { readonly claim: string; readonly requiredValue: string };

/** Allowed algorithms: asymmetric ones only, since public keys could forge HMACs. */
export const SIGNING_ALGORITHMS = ['RS256', 'RS384', 'RS512', 'ES256', 'ES384', 'ES512', 'PS256', 'PS384', 'PS512'] as const;
