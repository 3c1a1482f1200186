//! Parser and printer of formulas.
//!
//! Numbers, `w`, `rtt`, `qdelay`, `+ - * / ^`, parentheses and functions. `^` is right-associative
//! and binds more tightly than a sign: `-2^2` is -4.

use super::error::FormulaError;
use cwndlab_units::message;
use std::fmt;
use winnow::ascii::float;
use winnow::combinator::{
    Infix, Prefix, cut_err, delimited, dispatch, expression, fail, peek, preceded, separated,
};
use winnow::error::{ContextError, ErrMode, StrContext, StrContextValue};
use winnow::stream::{LocatingSlice, Location};
use winnow::token::{any, one_of, take_while};
use winnow::{ModalResult, Parser};

/// Syntax tree of a formula.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    Number(f64),
    Window,
    RoundTrip,
    QueueingDelay,
    Negative(Box<Node>),
    Pair(Operator, Box<Node>, Box<Node>),
    Call(Function, Vec<Node>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Function {
    Min,
    Max,
    Sqrt,
    Log,
    Exp,
    Abs,
}

impl Function {
    pub(super) const ALL: [(Self, &'static str); 6] = [
        (Self::Min, "min"),
        (Self::Max, "max"),
        (Self::Sqrt, "sqrt"),
        (Self::Log, "log"),
        (Self::Exp, "exp"),
        (Self::Abs, "abs"),
    ];

    fn name(self) -> &'static str {
        Self::ALL[self as usize].1
    }

    fn arguments_fit(self, count: usize) -> bool {
        if matches!(self, Self::Min | Self::Max) { count >= 2 } else { count == 1 }
    }
}

/// An invalid name or call is kept, with its position, until the whole text was parsed.
#[derive(Clone, Debug)]
struct Checked(Result<Node, FormulaError>);

type Input<'a> = LocatingSlice<&'a str>;

/// Limits of text length and nesting: parsing is recursive.
const LONGEST: usize = 500;
const DEEPEST: usize = 32;

pub(super) fn parse(text: &str) -> Result<Node, FormulaError> {
    let column = |offset: usize| text.get(..offset).map_or(1, |before| before.chars().count() + 1);
    if text.len() > LONGEST {
        return Err(FormulaError {
            column: LONGEST,
            message: format!("longer than {LONGEST} characters"),
        });
    }
    let mut depth = 0usize;
    for (at, character) in text.char_indices() {
        depth = if character == '(' {
            depth + 1
        } else {
            depth.saturating_sub(usize::from(character == ')'))
        };
        if depth > DEEPEST {
            return Err(FormulaError {
                column: column(at),
                message: format!("nested deeper than {DEEPEST}"),
            });
        }
    }
    match delimited(space, sum, space).parse(LocatingSlice::new(text)) {
        Ok(Checked(Ok(node))) => Ok(node),
        Ok(Checked(Err(error))) => Err(FormulaError { column: column(error.column), ..error }),
        Err(error) => {
            let offset = error.offset();
            let found = text.get(offset..).and_then(|rest| rest.chars().next());
            let found = found.map_or_else(
                || "the formula ends here".to_string(),
                |found| format!("found \"{found}\""),
            );
            let expected: Vec<String> = error
                .inner()
                .context()
                .filter_map(|context| match context {
                    StrContext::Expected(value) => Some(value.to_string()),
                    _ => None,
                })
                .collect();
            let expected = if expected.is_empty() {
                "an operator (+ - * / ^) or the end".to_string()
            } else {
                expected.join(" or ")
            };
            Err(FormulaError {
                column: column(offset),
                message: format!("expected {expected}, {found}"),
            })
        }
    }
}

fn space(input: &mut Input) -> ModalResult<()> {
    take_while(0.., char::is_whitespace).void().parse_next(input)
}

fn pair(operator: Operator, left: Checked, right: Checked) -> Checked {
    Checked(left.0.and_then(|left| Ok(Node::Pair(operator, Box::new(left), Box::new(right.0?)))))
}

fn sum(input: &mut Input) -> ModalResult<Checked> {
    use Operator::{Add, Divide, Multiply, Power, Subtract};
    expression(operand)
        .prefix(preceded(
            space,
            dispatch! {any;
                '-' => Prefix(12, |_: &mut _, x: Checked| {
                    Ok(Checked(x.0.map(|x| Node::Negative(Box::new(x)))))
                }),
                '+' => Prefix(12, |_: &mut _, x: Checked| Ok(x)),
                _ => fail,
            },
        ))
        .infix(preceded(
            space,
            dispatch! {any;
                '+' => Infix::Left(5, |_: &mut _, a, b| Ok(pair(Add, a, b))),
                '-' => Infix::Left(5, |_: &mut _, a, b| Ok(pair(Subtract, a, b))),
                '*' => Infix::Left(7, |_: &mut _, a, b| Ok(pair(Multiply, a, b))),
                '/' => Infix::Left(7, |_: &mut _, a, b| Ok(pair(Divide, a, b))),
                '^' => Infix::Right(14, |_: &mut _, a, b| Ok(pair(Power, a, b))),
                _ => fail,
            },
        ))
        .parse_next(input)
}

/// An operand. It reports errors where neither a sign nor an operand follows.
fn operand(input: &mut Input) -> ModalResult<Checked> {
    const EXPECTED: StrContextValue =
        StrContextValue::Description("a number, w, rtt, qdelay, a function or \"(\"");
    space(input)?;
    let first = peek(any::<_, ErrMode<ContextError>>).parse_next(input).unwrap_or(' ');
    match first {
        '0'..='9' | '.' => {
            cut_err(number).context(StrContext::Expected(EXPECTED)).parse_next(input)
        }
        // Not an operand; `expression` tries a sign next.
        '-' | '+' => fail.parse_next(input),
        '(' => delimited('(', sum, close).parse_next(input),
        first if first.is_alphabetic() => named(input),
        _ => cut_err(fail).context(StrContext::Expected(EXPECTED)).parse_next(input),
    }
}

fn close(input: &mut Input) -> ModalResult<()> {
    let expected = StrContext::Expected(StrContextValue::Description("an operator or \")\""));
    cut_err(preceded(space, ')')).context(expected).void().parse_next(input)
}

fn number(input: &mut Input) -> ModalResult<Checked> {
    let at = input.current_token_start();
    let value: f64 = float.parse_next(input)?;
    let finite = value.is_finite().then_some(Node::Number(value));
    Ok(Checked(
        finite
            .ok_or_else(|| FormulaError { column: at, message: "a number too large".to_string() }),
    ))
}

/// A variable or a function call. Positions are byte offsets here; `parse` converts them to
/// characters.
fn named(input: &mut Input) -> ModalResult<Checked> {
    let at = input.current_token_start();
    let name = take_while(1.., |c: char| c.is_alphanumeric() || c == '_').parse_next(input)?;
    let wrong = |message: String| Checked(Err(FormulaError { column: at, message }));
    let called = preceded(space, peek(one_of::<_, _, ErrMode<ContextError>>('(')))
        .parse_next(&mut input.clone())
        .is_ok();
    if !called {
        return Ok(match name {
            "w" => Checked(Ok(Node::Window)),
            "rtt" => Checked(Ok(Node::RoundTrip)),
            "qdelay" => Checked(Ok(Node::QueueingDelay)),
            _ => wrong(format!(
                "\"{name}\" is not known: expected w (packets), rtt or qdelay (seconds)"
            )),
        });
    }
    let arguments: Vec<Checked> =
        delimited((space, '('), separated(1.., sum, preceded(space, ',')), close)
            .parse_next(input)?;
    let Some(&(function, _)) = Function::ALL.iter().find(|(_, known)| *known == name) else {
        let names = Function::ALL.map(|(_, name)| name);
        return Ok(wrong(message::unknown("function", name, &names)));
    };
    if !function.arguments_fit(arguments.len()) {
        let takes = if function.arguments_fit(1) { "1 argument" } else { "2 or more arguments" };
        return Ok(wrong(format!("{name} takes {takes}, got {}", arguments.len())));
    }
    Ok(Checked(
        arguments
            .into_iter()
            .map(|argument| argument.0)
            .collect::<Result<_, _>>()
            .map(|nodes| Node::Call(function, nodes)),
    ))
}

impl Operator {
    fn text(self) -> &'static str {
        match self {
            Self::Add => " + ",
            Self::Subtract => " - ",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Power => "^",
        }
    }

    /// Precedence: higher binds more tightly; a sign has 3.
    fn level(self) -> u8 {
        match self {
            Self::Add | Self::Subtract => 1,
            Self::Multiply | Self::Divide => 2,
            Self::Power => 4,
        }
    }
}

impl Node {
    /// Whether a node equal to `part` is this one or below it.
    pub(super) fn contains(&self, part: &Self) -> bool {
        self == part
            || match self {
                Self::Negative(inner) => inner.contains(part),
                Self::Pair(_, left, right) => left.contains(part) || right.contains(part),
                Self::Call(_, arguments) => arguments.iter().any(|each| each.contains(part)),
                Self::Number(_) | Self::Window | Self::RoundTrip | Self::QueueingDelay => false,
            }
    }

    fn level(&self) -> u8 {
        match self {
            Self::Negative(_) => 3,
            Self::Pair(operator, ..) => operator.level(),
            _ => 5,
        }
    }

    /// Prints with parentheses where the precedence is below `least`.
    fn print(&self, f: &mut fmt::Formatter<'_>, least: u8) -> fmt::Result {
        if self.level() < least {
            f.write_str("(")?;
            self.print(f, 0)?;
            return f.write_str(")");
        }
        match self {
            Self::Number(value) if *value != 0.0 && !(1e-5..1e15).contains(value) => {
                write!(f, "{value:e}")
            }
            Self::Number(value) => write!(f, "{value}"),
            Self::Window => f.write_str("w"),
            Self::RoundTrip => f.write_str("rtt"),
            Self::QueueingDelay => f.write_str("qdelay"),
            Self::Negative(inner) => {
                f.write_str("-")?;
                inner.print(f, 4)
            }
            Self::Pair(operator, left, right) => {
                let (level, to_the_right) = (operator.level(), *operator == Operator::Power);
                left.print(f, level + u8::from(to_the_right))?;
                f.write_str(operator.text())?;
                right.print(f, level + u8::from(!to_the_right))
            }
            Self::Call(function, arguments) => {
                write!(f, "{}(", function.name())?;
                for (index, argument) in arguments.iter().enumerate() {
                    f.write_str(if index > 0 { ", " } else { "" })?;
                    argument.print(f, 0)?;
                }
                f.write_str(")")
            }
        }
    }
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.print(f, 0)
    }
}
