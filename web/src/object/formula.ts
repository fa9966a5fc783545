// Functions of ROOT as JSROOT writes them, computed without making a program of text from a file. JSROOT would call
// `new Function`, which the policy of the page forbids; build.mjs puts `formula` in its place.

type Env = { self: Func; x: number[] };
type Term = (env: Env) => unknown;

/** What of a function of JSROOT is read here. */
interface Func {
  fName?: string;
  fSave?: ArrayLike<number>;
  $math?: Record<string, unknown>;
}

const LONGEST = 10_000;
const DEEPEST = 100;
const TOKEN =
  /\s*(?:((?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|([A-Za-z_$][\w$]*(?:\.[\w$]+)*)|(&&|\|\||[<>=!]=|[-+*/%^()<>!?:,[\]]))/y;

let missing = new Map<string, string>();

/** Forgets which functions could not be computed. */
export function forgetMissing(): void {
  missing = new Map();
}

/** Why functions could not be computed that have no saved points either; empty where all could. */
export const missingFunctions = (): string => [...missing].map(([name, why]) => `${name}: ${why}`).join("; ");

/** A function of the named variables; the last word is the text of its body. */
export function formula(...words: string[]): (this: Func, ...x: number[]) => number {
  const body = words.pop() ?? "";
  let term: Term | null = null;
  let why = "its value is not a number in a part of its range";
  try {
    // JSROOT takes x^2.5 for the square of x
    const text = body.replace(/^return\s/, "").replace(/Math\.pow\(x,(\d)\)(?=[.\d])/g, "x^$1");
    term = new Parser(text, words).whole();
  } catch (error) {
    why = error instanceof Error ? error.message : String(error);
  }
  return function (this: Func, ...x: number[]): number {
    let value = Number.NaN;
    try {
      if (term) value = Number(term({ self: this, x }));
    } catch (error) {
      why = error instanceof Error ? error.message : String(error);
    }
    // JSROOT then takes the points that are saved with the function
    if (!Number.isFinite(value) && !((this.fSave?.length ?? 0) > 3)) missing.set(this.fName ?? "", why);
    return value;
  };
}

type Operator = (a: number, b: number) => number | boolean;

/** Operators of two sides, those that bind least first. */
const LEVELS: Record<string, Operator>[] = [
  { "||": (a, b) => !!a || !!b },
  { "&&": (a, b) => !!a && !!b },
  { "==": (a, b) => a === b, "!=": (a, b) => a !== b },
  { "<": (a, b) => a < b, ">": (a, b) => a > b, "<=": (a, b) => a <= b, ">=": (a, b) => a >= b },
  { "+": (a, b) => a + b, "-": (a, b) => a - b },
  { "*": (a, b) => a * b, "/": (a, b) => a / b, "%": (a, b) => a % b },
];

class Parser {
  private readonly tokens: string[] = [];
  private at = 0;
  private depth = 0;

  constructor(
    text: string,
    private readonly variables: string[],
  ) {
    if (text.length > LONGEST) throw new Error("its formula is too long");
    TOKEN.lastIndex = 0;
    for (const body = text.trimEnd(); TOKEN.lastIndex < body.length; ) {
      const begin = TOKEN.lastIndex;
      const found = TOKEN.exec(body);
      if (!found) throw new Error(`its formula has ${body.slice(begin, begin + 20).trim()}`);
      this.tokens.push(found[0].trim());
    }
  }

  whole(): Term {
    const term = this.choice();
    if (this.at < this.tokens.length) throw new Error(`its formula has ${this.tokens[this.at]}`);
    return term;
  }

  private taken(token: string): boolean {
    if (this.tokens[this.at] !== token) return false;
    this.at++;
    return true;
  }

  private expect(token: string): void {
    if (!this.taken(token)) throw new Error(`its formula lacks ${token}`);
  }

  private choice(): Term {
    if (++this.depth > DEEPEST) throw new Error("its formula is too deep");
    const condition = this.sides(0);
    let term = condition;
    if (this.taken("?")) {
      const then = this.choice();
      this.expect(":");
      const otherwise = this.choice();
      term = (env) => (condition(env) ? then(env) : otherwise(env));
    }
    this.depth--;
    return term;
  }

  private sides(level: number): Term {
    if (level === LEVELS.length) return this.signed();
    let left = this.sides(level + 1);
    for (;;) {
      const token = this.tokens[this.at];
      const operator = token !== undefined && Object.hasOwn(LEVELS[level], token) ? LEVELS[level][token] : null;
      if (!operator) return left;
      this.at++;
      const [a, b] = [left, this.sides(level + 1)];
      left = (env) => Number(operator(Number(a(env)), Number(b(env))));
    }
  }

  private signed(): Term {
    if (++this.depth > DEEPEST) throw new Error("its formula is too deep");
    const sign = ["-", "+", "!"].find((token) => this.taken(token));
    let term: Term;
    if (sign) {
      const of = this.signed();
      term = (env) => (sign === "-" ? -Number(of(env)) : sign === "+" ? of(env) : Number(!of(env)));
    } else {
      term = this.primary();
      if (this.taken("^")) {
        const [base, exponent] = [term, this.signed()];
        term = (env) => Number(base(env)) ** Number(exponent(env));
      }
    }
    this.depth--;
    return term;
  }

  private list(end: string): Term[] {
    const terms: Term[] = [];
    if (this.taken(end)) return terms;
    do terms.push(this.choice());
    while (this.taken(","));
    this.expect(end);
    return terms;
  }

  private primary(): Term {
    const token = this.tokens[this.at++] ?? "";
    if (/^[\d.]/.test(token)) {
      const value = Number(token);
      return () => value;
    }
    if (token === "(") {
      const inner = this.choice();
      this.expect(")");
      return inner;
    }
    if (token === "[") {
      const terms = this.list("]");
      return (env) => terms.map((term) => term(env));
    }
    if (!/^[A-Za-z_$]/.test(token)) throw new Error(token ? `its formula has ${token}` : "its formula is incomplete");
    if (token === "true" || token === "false") return () => token === "true";
    if (token === "this") return (env) => env.self;
    const variable = this.variables.indexOf(token);
    if (variable >= 0) return (env) => env.x[variable];
    if (!this.taken("(")) {
      if (token === "Math.PI") return () => Math.PI;
      throw new Error(`its formula has ${token}`);
    }
    const terms = this.list(")");
    return called(token, terms);
  }
}

/** A call of a function of the language or of JSROOT: of nothing else that a name could reach. */
function called(name: string, terms: Term[]): Term {
  const ofJsroot = /^this\.\$math\.(\w+)$/.exec(name)?.[1];
  if (ofJsroot) {
    return (env) => {
      const math = env.self.$math ?? {};
      const f = Object.hasOwn(math, ofJsroot) ? math[ofJsroot] : null;
      if (typeof f !== "function") throw new Error(`its formula calls ${ofJsroot}`);
      return f(...terms.map((term) => term(env)));
    };
  }
  const own = name === "int" ? "trunc" : name.replace(/^Math\./, "");
  const f = Object.hasOwn(Math, own) && own !== "random" ? (Math as unknown as Record<string, unknown>)[own] : null;
  if (typeof f !== "function") throw new Error(`its formula calls ${name}`);
  return (env) => f(...terms.map((term) => Number(term(env))));
}
