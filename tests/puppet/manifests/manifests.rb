# Asks the installed Puppet for the declarations and reads of manifests. Standard input has a file's path a line
# (or, with the argument `texts`, a JSON string with the text of a manifest, or {"template": TEXT}); the answer is a JSON
# object a line: the file's declarations, or the error of Puppet's parser. Offsets count bytes.
require 'json'
require 'tmpdir'

answers = $stdout.dup
$stdout.reopen($stderr)
require 'puppet'
require 'puppet/pops'

PPS = Puppet::Pops
AST = PPS::Model
FUNCTIONS = %w[lookup hiera hiera_array hiera_hash hiera_include].freeze
INCLUSIONS = %w[include contain require].freeze
KINDS = {
  AST::HostClassDefinition => 'class', AST::ResourceTypeDefinition => 'define',
  AST::FunctionDefinition => 'function', AST::PlanDefinition => 'plan'
}.freeze

# The answer for one text.
class Reading
  def initialize(text, path)
    @text = text.b
    parser = path.end_with?('.epp') ? PPS::Parser::EppParser.new : PPS::Parser::Parser.new
    @program = parser.parse_string(text, path).model
    @readers = []
    @uses = []
    @nodes = []
  end

  def answer
    walk(@program.body, nil) if @program.body
    definitions = @program.definitions
    {
      'definitions' => definitions.map { |one| definition(one) }.compact,
      'aliases' => definitions.grep(AST::TypeAlias).map { |one| { 'name' => one.name, 'type' => text_of(one).sub(/\A[^=]*=/, '') } },
      'readers' => @readers, 'uses' => @uses, 'nodes' => @nodes
    }
  end

  # The first and the last byte of an expression. Puppet's own place of an operator is the operator's,
  # and it has no place for brackets around an expression.
  def extent(node)
    first = node.offset
    last = first + node.length
    node._pcore_all_contents([]) do |inner|
      next unless inner.is_a?(AST::Positioned) && inner.length.positive?

      first = inner.offset if inner.offset < first
      last = inner.offset + inner.length if inner.offset + inner.length > last
    end
    [first, last]
  end

  def text_of(node)
    return if node.nil?

    first, last = extent(node)
    @text.byteslice(first...last).force_encoding('UTF-8')
  end

  def definition(node)
    kind = KINDS[node.class]
    return if kind.nil?

    parameters = node.parameters.map do |parameter|
      found = { 'name' => parameter.name, 'offset' => parameter.offset, 'rest' => parameter.captures_rest }
      found['type'] = text_of(parameter.type_expr) if parameter.type_expr
      found['default'] = text_of(parameter.value) if parameter.value
      found
    end
    found = { 'kind' => kind, 'name' => node.name, 'offset' => node.offset, 'end' => node.offset + node.length, 'parameters' => parameters }
    found['inherits'] = node.parent_class if kind == 'class' && node.parent_class
    found
  end

  def walk(node, inside)
    inside = node if KINDS.key?(node.class)
    case node
    when AST::CallNamedFunctionExpression then named_call(node, inside)
    when AST::CallMethodExpression then method_call(node, inside)
    when AST::HostClassDefinition then use('inherits', node.parent_class.sub(/\A::/, '').downcase) if node.parent_class
    when AST::ResourceExpression then resource(node)
    when AST::NodeDefinition then @nodes << node.host_matches.map { |name| host(name) }
    end
    node._pcore_contents { |child| walk(child, inside) }
  end

  def named_call(node, inside)
    name = node.functor_expr.respond_to?(:value) ? node.functor_expr.value : nil
    return unless name.is_a?(String)

    plain = name.sub(/\A::/, '')
    reader(node, plain, node.arguments, inside, 'direct') if FUNCTIONS.include?(plain)
    node.arguments.each { |argument| names(argument).each { |one| use(name, one) } } if INCLUSIONS.include?(name)
  end

  def method_call(node, inside)
    called = node.functor_expr
    return unless called.is_a?(AST::NamedAccessExpression) && called.right_expr.is_a?(AST::QualifiedName)

    name = called.right_expr.value
    reader(node, name, [called.left_expr] + node.arguments, inside, 'method') if FUNCTIONS.include?(name)
    names(called.left_expr).each { |one| use(name, one) } if INCLUSIONS.include?(name)
  end

  def resource(node)
    return unless node.type_name.is_a?(AST::QualifiedName) && node.type_name.value == 'class'

    node.bodies.each do |body|
      next if body.title.is_a?(AST::LiteralDefault)

      given = body.operations.map { |one| one.is_a?(AST::AttributeOperation) ? one.attribute_name : '*' }
      names(body.title).each { |one| @uses << { 'how' => 'class', 'class' => one, 'gives' => given } }
    end
  end

  def use(how, name)
    @uses << { 'how' => how, 'class' => name }
  end

  def names(node)
    case node
    when AST::LiteralList then node.values.flat_map { |one| names(one) }
    when AST::LiteralString, AST::QualifiedName then [node.value.sub(/\A::/, '').downcase]
    when AST::AccessExpression
      is_class = node.left_expr.is_a?(AST::QualifiedReference) && node.left_expr.cased_value == 'Class'
      is_class ? node.keys.flat_map { |one| names(one) } : [nil]
    else [nil]
    end
  end

  def host(node)
    case node
    when AST::LiteralDefault then { 'default' => true }
    when AST::LiteralRegularExpression then { 'regex' => node.value.source }
    when AST::LiteralString, AST::QualifiedName then { 'name' => node.value }
    else { 'name' => text_of(node) }
    end
  end

  def reader(node, function, arguments, inside, form)
    found = { 'function' => function, 'form' => form, 'offset' => extent(node).first }
    found['in'] = inside.name if inside
    found['lambda'] = true if node.lambda
    key = arguments[0]
    if key.is_a?(AST::LiteralHash)
      options = key
      key = entry(options, 'name')
    elsif arguments[1].is_a?(AST::LiteralHash) && function == 'lookup'
      options = arguments[1]
    end
    found['keys'] = keys(key, inside)
    found['lambda'] = true if options && entry(options, 'default_values_hash')
    if options
      found['type'] = text_of(entry(options, 'value_type'))
      found['merge'] = text_of(entry(options, 'merge'))
      found['default'] = text_of(entry(options, 'default_value'))
    elsif function == 'lookup'
      type, merge, default = arguments[1..3]
      found['type'] = text_of(type) unless type.is_a?(AST::LiteralUndef)
      found['merge'] = text_of(merge) unless merge.is_a?(AST::LiteralUndef)
      found['default'] = text_of(default)
    else
      found['default'] = text_of(arguments[1])
    end
    @readers << found.compact
  end

  def entry(hash, name)
    found = hash.entries.find { |one| (one.key.is_a?(AST::LiteralString) || one.key.is_a?(AST::QualifiedName)) && one.key.value == name }
    found&.value
  end

  # The keys with `*` for unknown parts; null where nothing is known.
  def keys(node, inside)
    nodes = node.is_a?(AST::LiteralList) ? node.values : [node].compact
    found = nodes.map { |one| key(one, inside) }
    found.empty? || found.include?(nil) ? nil : found
  end

  def key(node, inside)
    case node
    when AST::LiteralString, AST::QualifiedName then node.value
    when AST::ConcatenatedString
      node.segments.map { |part| part.is_a?(AST::LiteralString) ? part.value : variable(part, inside) }.join
    end
  end

  def variable(part, inside)
    part = part.expr if part.is_a?(AST::TextExpression)
    name = part.expr.value if part.is_a?(AST::VariableExpression) && part.expr.is_a?(AST::QualifiedName)
    name = part.value if part.is_a?(AST::QualifiedName)
    %w[title name].include?(name) && inside.is_a?(AST::HostClassDefinition) ? inside.name : '*'
  end
end

Dir.mktmpdir do |dir|
  Puppet.initialize_settings(['--confdir', "#{dir}/conf", '--vardir', "#{dir}/var", '--codedir', "#{dir}/code"])
  Puppet::Util::Log.level = :crit
  texts = ARGV.include?('texts')
  $stdin.each_line(chomp: true) do |line|
    source = texts ? JSON.parse(line, quirks_mode: true) : File.read(line, encoding: 'UTF-8')
    path = texts ? 'text.pp' : line
    path, source = 'text.epp', source['template'] if source.is_a?(Hash)
    Puppet[:tasks] = path.include?('/plans/')
    answers.puts JSON.generate(Reading.new(source, path).answer)
  rescue StandardError, SystemStackError => e
    answers.puts JSON.generate('error' => e.message)
  end
end
