/** Error codes of the CNI specification; codes from 100 are ours. */
export const CNI_CODES = {
  incompatibleVersion: 1,
  unsupportedField: 2,
  unknownContainer: 3,
  invalidEnvironment: 4,
  ioFailure: 5,
  decodeFailure: 6,
  invalidConfig: 7,
  tryAgainLater: 11,
  notAvailable: 50,
  checkFailed: 100,
  noAddresses: 101,
  kernelFailure: 102,
} as const;

export class CniError extends Error {
  override readonly name = 'CniError';

  constructor(
    readonly code: number,
    message: string,
    readonly details = '',
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
