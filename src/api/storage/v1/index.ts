export * from './csi-driver.ts';
export * from './csi-node.ts';
export * from './csi-storage-capacity.ts';
export * from './storage-class.ts';
export * from './volume-attachment.ts';
export * from './volume-attributes-class.ts';
