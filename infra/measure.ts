// Lines of a TypeScript file and of each function in it, found by the compiler's own parser.
import ts from 'typescript';

export interface Measured {
  /** `path` of a file, `path:line name` of a function. */
  readonly name: string;
  readonly lines: number;
}

export interface FileMeasure {
  readonly file: Measured;
  readonly functions: readonly Measured[];
}

export function measure(path: string, text: string): FileMeasure {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const codeLines = linesWithCode(source);
  const functions: Measured[] = [];
  const visit = (node: ts.Node): void => {
    if (isFunctionWithBody(node) && !isListOfTests(node))
      functions.push(measureFunction(source, node, codeLines));
    ts.forEachChild(node, visit);
  };
  visit(source);
  return { file: { name: path, lines: text.split('\n').length - (text.endsWith('\n') ? 1 : 0) }, functions };
}

/** One-line arrows are expressions with an arrow in front: they would drown the median. */
function isFunctionWithBody(node: ts.Node): node is ts.FunctionLikeDeclaration & { body: ts.Block } {
  if (!ts.isFunctionLike(node) || !('body' in node)) return false;
  return node.body !== undefined && ts.isBlock(node.body as ts.Node);
}

/** A describe callback, or a contract suite (`storeCases`): to be read item by item. */
function isListOfTests(node: ts.Node): boolean {
  if (ts.isFunctionDeclaration(node)) return node.name?.text.endsWith('Cases') ?? false;
  if (!ts.isCallExpression(node.parent)) return false;
  return /^(describe|suite)\b/.test(node.parent.expression.getText());
}

function measureFunction(
  source: ts.SourceFile,
  node: ts.FunctionLikeDeclaration,
  codeLines: Set<number>,
): Measured {
  const first = source.getLineAndCharacterOfPosition(node.getStart(source)).line;
  const last = source.getLineAndCharacterOfPosition(node.end).line;
  let lines = 0;
  for (let line = first; line <= last; line++) if (codeLines.has(line)) lines++;
  return { name: `${source.fileName}:${first + 1} ${functionName(node)}`, lines };
}

function functionName(node: ts.FunctionLikeDeclaration): string {
  const named = node.name ?? (ts.isVariableDeclaration(node.parent) ? node.parent.name : undefined);
  return named?.getText() ?? (ts.isConstructorDeclaration(node) ? 'constructor' : '(anonymous)');
}

/** Zero-based numbers of the lines on which a token stands: neither blank nor comment only. */
function linesWithCode(source: ts.SourceFile): Set<number> {
  const lines = new Set<number>();
  const visit = (node: ts.Node): void => {
    if (node.getChildCount(source) > 0) return node.getChildren(source).forEach(visit);
    if (node.end === node.getStart(source)) return;
    const first = source.getLineAndCharacterOfPosition(node.getStart(source)).line;
    const last = source.getLineAndCharacterOfPosition(node.end).line;
    for (let line = first; line <= last; line++) lines.add(line);
  };
  visit(source);
  return lines;
}
