/** The base class of all values that are our own objects; plain data never is. */
export abstract class CelBoxed {
  get isBoxed(): true {
    return true;
  }
}
