//! Compiled formula: steps over an accumulator and a small stack, without allocation or recursion.

use super::error::FormulaError;
use super::parse::{Function, Node, Operator};

/// One step. `x` is the accumulator; constants are part of the step, so that most formulas need no
/// stack.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    /// Push `x` and load a new one.
    Save,
    Number(f64),
    Window,
    RoundTrip,
    QueueingDelay,
    Negative,
    /// x op constant.
    With(Operator, f64),
    /// constant op x.
    From(Operator, f64),
    /// Top of the stack op x.
    Pair(Operator),
    Min,
    Max,
    Sqrt,
    Log,
    Exp,
    Abs,
}

const STACK: usize = 16;

/// A compiled formula.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Program {
    steps: Box<[Step]>,
    /// Depth of the stack.
    depth: usize,
}

impl Program {
    pub(super) fn new(node: &Node) -> Result<Self, FormulaError> {
        let mut steps = Vec::new();
        write(node, &mut steps)?;
        let (mut depth, mut deepest) = (0usize, 0);
        for step in &steps {
            match step {
                Step::Save => depth += 1,
                Step::Pair(_) | Step::Min | Step::Max => depth -= 1,
                _ => {}
            }
            deepest = deepest.max(depth);
        }
        if deepest > STACK {
            return Err(FormulaError {
                column: 1,
                message: format!("more than {STACK} intermediate values at a time"),
            });
        }
        Ok(Self { steps: steps.into(), depth: deepest })
    }

    /// The value at a window of `w` packets, an RTT of `rtt` and a queueing delay of `qdelay`
    /// seconds.
    #[inline]
    pub(super) fn value(&self, w: f64, rtt: f64, qdelay: f64) -> f64 {
        // Most formulas need no stack: nothing to clear.
        if self.depth == 0 {
            self.run(w, rtt, qdelay, &mut [])
        } else {
            self.run(w, rtt, qdelay, &mut [0.0; STACK])
        }
    }

    #[inline(always)]
    fn run(&self, w: f64, rtt: f64, qdelay: f64, stack: &mut [f64]) -> f64 {
        let (mut top, mut x) = (0usize, 0.0f64);
        for step in &self.steps {
            x = match *step {
                Step::Save => {
                    stack[top] = x;
                    top += 1;
                    x
                }
                Step::Number(value) => value,
                Step::Window => w,
                Step::RoundTrip => rtt,
                Step::QueueingDelay => qdelay,
                Step::Negative => -x,
                Step::With(operator, value) => apply(operator, x, value),
                Step::From(operator, value) => apply(operator, value, x),
                Step::Pair(operator) => {
                    top -= 1;
                    apply(operator, stack[top], x)
                }
                Step::Min => {
                    top -= 1;
                    least(stack[top], x)
                }
                Step::Max => {
                    top -= 1;
                    -least(-stack[top], -x)
                }
                Step::Sqrt => x.sqrt(),
                Step::Log => libm::log(x),
                Step::Exp => libm::exp(x),
                Step::Abs => x.abs(),
            };
        }
        x
    }
}

/// The minimum; NaN propagates, unlike in `f64::min`.
fn least(a: f64, b: f64) -> f64 {
    if a < b || a.is_nan() { a } else { b }
}

#[inline]
fn apply(operator: Operator, a: f64, b: f64) -> f64 {
    match operator {
        Operator::Add => a + b,
        Operator::Subtract => a - b,
        Operator::Multiply => a * b,
        Operator::Divide => a / b,
        Operator::Power if b == 0.5 && a >= 0.0 => a.sqrt(),
        Operator::Power if b == 2.0 => a * a,
        Operator::Power => libm::pow(a, b),
    }
}

/// The value, if no variable occurs.
fn constant(node: &Node) -> Option<f64> {
    match node {
        Node::Number(value) => Some(*value),
        Node::Window | Node::RoundTrip | Node::QueueingDelay | Node::Call(..) => None,
        Node::Negative(inner) => constant(inner).map(|value| -value),
        Node::Pair(operator, left, right) => {
            Some(apply(*operator, constant(left)?, constant(right)?))
        }
    }
}

/// Compiles a node. A part that is infinite or NaN for every window is an error.
fn write(node: &Node, steps: &mut Vec<Step>) -> Result<(), FormulaError> {
    if let Some(value) = constant(node) {
        if !value.is_finite() {
            return Err(FormulaError {
                column: 1,
                message: format!("\"{node}\" is {value}, whatever w is"),
            });
        }
        steps.push(Step::Number(value));
        return Ok(());
    }
    match node {
        Node::Number(_) => {}
        Node::Window => steps.push(Step::Window),
        Node::RoundTrip => steps.push(Step::RoundTrip),
        Node::QueueingDelay => steps.push(Step::QueueingDelay),
        Node::Negative(inner) => {
            write(inner, steps)?;
            steps.push(Step::Negative);
        }
        Node::Pair(operator, left, right) => match (finite(left), finite(right)) {
            (Some(value), _) => {
                write(right, steps)?;
                steps.push(Step::From(*operator, value));
            }
            (_, Some(value)) => {
                write(left, steps)?;
                steps.push(Step::With(*operator, value));
            }
            _ => both(left, right, Step::Pair(*operator), steps)?,
        },
        Node::Call(function, arguments) => call(*function, arguments, steps)?,
    }
    Ok(())
}

fn finite(node: &Node) -> Option<f64> {
    constant(node).filter(|value| value.is_finite())
}

fn both(left: &Node, right: &Node, step: Step, steps: &mut Vec<Step>) -> Result<(), FormulaError> {
    write(left, steps)?;
    steps.push(Step::Save);
    write(right, steps)?;
    steps.push(step);
    Ok(())
}

fn call(function: Function, arguments: &[Node], steps: &mut Vec<Step>) -> Result<(), FormulaError> {
    let step = match function {
        Function::Min => Step::Min,
        Function::Max => Step::Max,
        Function::Sqrt => Step::Sqrt,
        Function::Log => Step::Log,
        Function::Exp => Step::Exp,
        Function::Abs => Step::Abs,
    };
    for (index, argument) in arguments.iter().enumerate() {
        if index > 0 {
            steps.push(Step::Save);
        }
        write(argument, steps)?;
        if index > 0 || arguments.len() == 1 {
            steps.push(step);
        }
    }
    Ok(())
}
