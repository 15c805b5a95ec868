# Reads JSON strings, one a line: each is a YAML text. Answers each with one line of JSON: whether Psych accepts the
# first document, and its events, or the error with the place that Psych reports.
require 'json'
require 'psych'

class Recorder < Psych::Handler
  attr_reader :events

  def initialize
    @events = []
  end

  def event_location(*place)
    @place = place
  end

  # Where the event's own text stands, if the event begins with it and has any.
  def place(anchor, tag)
    @place if anchor.nil? && tag.nil? && @place[0, 2] != @place[2, 2]
  end

  def scalar(value, anchor, tag, _plain, _quoted, style)
    @events << ['scalar', value, anchor, tag, style, style <= 3 ? place(anchor, tag) : nil]
  end

  def start_sequence(anchor, tag, _implicit, style)
    @events << ['sequence', anchor, tag, style == 2, anchor || tag ? nil : @place[0, 2]]
  end

  def start_mapping(anchor, tag, _implicit, style)
    @events << ['mapping', anchor, tag, style == 2, anchor || tag ? nil : @place[0, 2]]
  end

  def end_sequence
    @events << ['end']
  end

  def end_mapping
    @events << ['end']
  end

  def alias(name)
    @events << ['alias', name, @place]
  end

  def end_document(_implicit)
    throw :first_document
  end
end

$stdin.each_line do |line|
  recorder = Recorder.new
  begin
    catch(:first_document) { Psych::Parser.new(recorder).parse(JSON.parse(line, quirks_mode: true)) }
    answer = { ok: true, events: recorder.events }
  rescue Psych::SyntaxError => e
    answer = { ok: false, problem: e.problem, context: e.context, line: e.line, column: e.column }
  end
  puts JSON.generate(answer)
end
