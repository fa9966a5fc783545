/** An object that is no picture: the message is what it contains, as text. */
export class NoPicture extends Error {}
