package io.github.distributedpermit;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideOutsideOfPackages;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noMethods;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.domain.JavaPackage;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The walls between the packages, as the design draws them. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS) // reading the classes takes its time
class WallsTest {

    private static final String API = WallsTest.class.getPackageName();
    private static final String OURS = API + "..";
    private static final String SPI = API + ".spi..";
    private static final String CORE = API + ".core..";
    private static final String AUTOCONFIGURE = API + ".autoconfigure..";

    /** All that is shipped, from whichever module; support for tests has packages of the same root. */
    private final JavaClasses classes = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .withImportOption(location -> !location.contains("test-servers") && !location.contains("-tests.jar"))
            .importPackages(API);

    @Test
    void theWallsAreCheckedOnRealClasses() {
        assertThat(classes.contain(Permits.class)).isTrue();
        assertThat(classes.contain(WallsTest.class)).isFalse();
        assertThat(backends())
                .contains(API + ".backend.local", API + ".backend.redis")
                .contains(API + ".backend.consul", API + ".backend.zookeeper");
    }

    @Test
    void apiKnowsOnlyItself() {
        check(mayUseOfOurs(API, API));
    }

    @Test
    void spiKnowsOnlyTheApi() {
        check(mayUseOfOurs(SPI, API, SPI));
        check(noClasses()
                .that()
                .resideInAPackage(API + ".spi")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(API + ".spi.step..", API + ".spi.snapshot.."));
    }

    @Test
    void coreKnowsOnlyApiAndSpi() {
        check(mayUseOfOurs(CORE, API, SPI, CORE));
    }

    @ParameterizedTest
    @MethodSource("backends")
    void backendKnowsOnlyTheSpi(String backend) {
        check(mayUseOfOurs(backend + "..", SPI, backend + ".."));
    }

    private List<String> backends() {
        return classes.getPackage(API + ".backend").getSubpackages().stream()
                .map(JavaPackage::getName)
                .toList();
    }

    /** What a package of one artifact keeps to itself, another artifact could not reach under the module system. */
    @Test
    void noTwoArtifactsShareAPackage() {
        Map<String, Set<String>> artifacts = classes.stream()
                .collect(Collectors.groupingBy(
                        JavaClass::getPackageName, Collectors.mapping(WallsTest::artifact, Collectors.toSet())));

        assertThat(artifacts.values())
                .hasSizeGreaterThan(10)
                .allSatisfy(of -> assertThat(of).hasSize(1));
    }

    private static String artifact(JavaClass type) {
        String uri = type.getSource().orElseThrow().getUri().toString();
        return uri.substring(0, uri.lastIndexOf(type.getName().replace('.', '/')));
    }

    @ParameterizedTest
    @ValueSource(strings = {"aop", "metrics", "observation", "health", "web", "http", "endpoint"})
    void springSideKnowsApiAndSpiButNeitherCoreNorBackends(String name) {
        String side = API + "." + name + "..";
        check(mayUseOfOurs(side, API, SPI, side));
    }

    @Test
    void nobodyKnowsTheAutoConfiguration() {
        check(noClasses()
                .that()
                .resideOutsideOfPackage(AUTOCONFIGURE)
                .should()
                .dependOnClassesThat()
                .resideInAPackage(AUTOCONFIGURE));
    }

    @Test
    void apiSpiCoreAndLocalBackendKnowOnlyTheJdk() {
        check(classes()
                .that()
                .resideInAnyPackage(API, SPI, CORE, API + ".backend.local..")
                .should()
                .onlyDependOnClassesThat()
                .resideInAnyPackage("java..", "org.jspecify.annotations..", OURS, "jdk.jfr"));
        // run times may lack this module of the JDK
        check(noClasses()
                .that()
                .resideOutsideOfPackage(API + ".core.jfr")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("jdk.jfr"));
    }

    @Test
    void clientLibrariesStayWithTheirBackend() {
        Map<String, List<String>> clients = Map.of(
                "redis", List.of("io.lettuce..", "org.springframework.data.redis.."),
                "consul", List.of("org.springframework.cloud.consul..", "java.net.http.."),
                "jdbc", List.of("org.postgresql.."),
                "zookeeper", List.of("org.apache.curator..", "org.apache.zookeeper.."));
        clients.forEach((backend, libraries) -> check(noClasses()
                .that()
                .resideOutsideOfPackages(API + ".backend." + backend + "..", AUTOCONFIGURE)
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(libraries.toArray(String[]::new))));
    }

    @Test
    void packagesFormNoCycle() {
        check(slices().assignedFrom(new PackagePerSlice()).should().beFreeOfCycles());
    }

    /** A class can be read, tested and moved by itself only if it does not need all the others in turn. */
    @ParameterizedTest
    @MethodSource("parts")
    void noMoreThanTwoClassesOfAPartDependOnEachOther(String part) {
        List<JavaClass> classesOfPart =
                classes.stream().filter(resideInAPackage(part)).toList();

        assertThat(classesOfPart).hasSizeGreaterThan(2);
        assertThat(ClassCycles.among(classesOfPart)).isEmpty();
    }

    private List<String> parts() {
        Stream<String> spring = Stream.of(
                        "aop", "autoconfigure", "metrics", "observation", "health", "web", "http", "endpoint")
                .map(name -> API + "." + name + "..");
        Stream<String> engine = Stream.concat(Stream.of(API + ".core", API + ".spi"), backends().stream())
                .map(name -> name + "..");
        return Stream.of(Stream.of(API), engine, spring).flatMap(each -> each).toList();
    }

    @Test
    void cyclesOfMoreThanTwoClassesAreFound() {
        JavaClasses jdk = new ClassFileImporter().importPackages("java.util.concurrent");

        assertThat(ClassCycles.among(List.copyOf(jdk)))
                .anySatisfy(cycle -> assertThat(cycle)
                        .contains(ForkJoinPool.class.getName(), ForkJoinTask.class.getName())
                        .hasSizeGreaterThan(2));
    }

    /** The compiler copies the value of a constant, so that no instruction names the class that declares it. */
    @Test
    void dependencyOnAConstantIsFound() {
        JavaClass user = classes.get(API + ".backend.consul.ConsulPermitBackend");

        assertThat(ClassCycles.constantPool(user)).contains(API + ".backend.consul.GrantVersion");
    }

    @Test
    void everyPackageIsNullMarked() {
        List<String> unmarked = Stream.concat(Stream.of(classes.getPackage(API)), subpackages(classes.getPackage(API)))
                .filter(p -> !p.getClasses().isEmpty() && !p.isAnnotatedWith(NullMarked.class))
                .map(JavaPackage::getName)
                .toList();

        assertThat(unmarked).isEmpty();
    }

    /** But for what a thread is in, which its code reaches without an object, as with Spring's context holders. */
    @Test
    void nothingStaticIsMutable() {
        check(fields().that()
                .areStatic()
                .and(areWritten())
                .and()
                .areNotDeclaredIn(PermitContext.class)
                .should()
                .beFinal()
                .andShould(beImmutable()));
    }

    @Test
    void nobodyDeserialisesObjectsOfJava() {
        check(noClasses()
                .should()
                .dependOnClassesThat()
                .haveFullyQualifiedName("java.io.ObjectInputStream")
                .orShould()
                .dependOnClassesThat()
                .haveFullyQualifiedName("java.beans.XMLDecoder")
                .orShould()
                .dependOnClassesThat()
                .haveNameMatching(".*\\.(JdkSerialization\\w*|\\w*SerializingConverter|DefaultDeserializer)"));
    }

    @Test
    void idsCannotBeGuessed() {
        check(noClasses()
                .should()
                .dependOnClassesThat()
                .haveFullyQualifiedName("java.util.Random")
                .orShould()
                .callMethod(Math.class, "random"));
        // for the length of pauses only
        check(noClasses()
                .that()
                .haveNameNotMatching(".*\\.(consul\\.Backoff|snapshot\\.ConflictPause|member\\.CoreEnvironment)")
                .should()
                .dependOnClassesThat()
                .areAssignableTo(ThreadLocalRandom.class));
    }

    /** The default access of the endpoint that has them is read-only. */
    @Test
    void onlyTheEndpointOfPermitsHasOperationsThatChangeSomething() {
        check(noMethods()
                .that()
                .areDeclaredInClassesThat()
                .haveNameNotMatching(".*\\.endpoint\\.Permits(Endpoint|WebExtension)")
                .should()
                .beAnnotatedWith("org.springframework.boot.actuate.endpoint.annotation.WriteOperation")
                .orShould()
                .beAnnotatedWith("org.springframework.boot.actuate.endpoint.annotation.DeleteOperation"));
    }

    private void check(ArchRule rule) {
        rule.check(classes);
    }

    private static ArchRule mayUseOfOurs(String from, String... allowed) {
        return classes()
                .that(resideInAPackage(from))
                .should()
                .onlyDependOnClassesThat(resideInAnyPackage(allowed).or(resideOutsideOfPackages(OURS)))
                .as("%s uses of this project only %s".formatted(from, List.of(allowed)));
    }

    private static Stream<JavaPackage> subpackages(JavaPackage parent) {
        return parent.getSubpackagesInTree().stream();
    }

    /** Not made by the compiler, as the values of an enum are. */
    private static DescribedPredicate<JavaField> areWritten() {
        return DescribedPredicate.describe(
                "are written by people", f -> !f.getModifiers().contains(JavaModifier.SYNTHETIC));
    }

    private static ArchCondition<JavaField> beImmutable() {
        return new ArchCondition<>("be of a type that may be immutable") {
            @Override
            public void check(JavaField field, ConditionEvents events) {
                JavaClass type = field.getRawType();
                boolean mutable = type.isArray()
                        || type.isAssignableTo(ThreadLocal.class)
                        || type.getName().matches("java\\.util\\.concurrent\\.atomic\\..*(?<!FieldUpdater)")
                        || (type.isAssignableTo(Collection.class) && !type.isInterface())
                        || (type.isAssignableTo(Map.class) && !type.isInterface());
                events.add(new SimpleConditionEvent(field, !mutable, field.getDescription() + " is of " + type));
            }
        };
    }

    private static final class PackagePerSlice implements SliceAssignment {

        @Override
        public SliceIdentifier getIdentifierOf(JavaClass javaClass) {
            return SliceIdentifier.of(javaClass.getPackageName());
        }

        @Override
        public String getDescription() {
            return "packages";
        }
    }
}
