package io.github.distributedpermit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.xpath.XPath;
import javax.xml.xpath.XPathConstants;
import javax.xml.xpath.XPathFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.w3c.dom.Document;
import org.w3c.dom.NodeList;

/** A dependency of ours must not give an application a later Spring Boot than it asks for, as Gradle's highest version would. */
class PublishedDependenciesTest {

    private static final String PASSED_ON =
            "/project/dependencies/dependency[starts-with(groupId, 'org.springframework')"
                    + " and not(optional = 'true') and not(scope = 'test') and not(scope = 'provided')]";

    private final XPath xpath = XPathFactory.newInstance().newXPath();

    @ParameterizedTest
    @ValueSource(
            strings = {"autoconfigure", "test", "ui", "engine/core", "engine/redis", "engine/jdbc", "engine/consul"})
    void artifactPassesNoSpringOn(String module) throws Exception {
        NodeList passedOn = (NodeList) xpath.evaluate(PASSED_ON, pom(module), XPathConstants.NODESET);
        assertThat(passedOn.getLength()).isZero();
    }

    @Test
    void starterAsksForTheLowestVersionThatWorks() throws Exception {
        assertThat(xpath.evaluate(PASSED_ON + "/version", pom("starter"))).isEqualTo("${spring-boot.lowest.version}");
        assertThat(xpath.evaluate("/project/properties/spring-boot.lowest.version", pom("")))
                .startsWith("4.0.");
    }

    private static Document pom(String module) throws Exception {
        return DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(new File("../" + module + "/pom.xml"));
    }
}
